"""Which service manager this machine has."""

import os
import sys
from collections.abc import Mapping

from daemon.service.installation import Installation
from daemon.service.manager import ServiceManager
from graph_memory.domain.errors import Unavailable


def manager_of(
    installation: Installation, environ: Mapping[str, str] = os.environ, *, platform: str = sys.platform
) -> ServiceManager:
    """Return the service manager of the platform, for one installation.

    Raises:
        Unavailable: the platform has none that this program knows.
    """
    if platform == "linux":
        from daemon.service.systemd_user import SystemdUser

        return SystemdUser(installation, environ)
    if platform == "darwin":
        from daemon.service.launchd import Launchd

        return Launchd(installation, environ)
    raise Unavailable(
        f"on {platform} this program knows no service manager; have `graph-memory run` started by one of yours"
    )
