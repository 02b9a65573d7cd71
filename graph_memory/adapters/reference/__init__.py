"""A store of plain dicts: the contract of the ports in its shortest form, and the fake that tests run on."""

from graph_memory.adapters.reference.store import ReferenceStore

__all__ = ["ReferenceStore"]
