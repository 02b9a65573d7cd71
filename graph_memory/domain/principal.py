"""Who is calling: carried from the transport down to every transaction."""

from dataclasses import dataclass

LOCAL_TENANT = "local"
"""The tenant of the person whose machine this is: stdio clients, the daemon, the command line."""


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller: the tenant whose rows it sees, and whether it has the admin's rights."""

    tenant: str
    is_admin: bool = False

    def __post_init__(self) -> None:
        if not self.tenant:
            msg = "a principal needs a tenant"
            raise ValueError(msg)


LOCAL_ADMIN = Principal(LOCAL_TENANT, is_admin=True)
