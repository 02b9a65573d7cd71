"""Situations are acted out on the tools, as a client calls them."""

from tests.tools.conftest import client, clock, home, new_client, store

__all__ = ["client", "clock", "home", "new_client", "store"]
