"""How every command of this product ends; `docs/cli.md` has the same table."""

from enum import IntEnum

from graph_memory.domain.errors import ConfigError, GraphMemoryError, InvalidRequest, Unavailable


class Exit(IntEnum):
    """The statuses of a process; those above 64 are the ones that sysexits.h and service managers know."""

    OK = 0
    FAILED = 1
    """It ran and found something wrong, or something it was asked to do could not be done."""
    USAGE = 2
    """The command line itself can't be understood, or names what can't be."""
    BUSY = 75
    """Something else holds what is needed; the same command may work later."""
    CONFIG = 78
    """The settings or the home folder have to be mended first."""


def exit_for(error: GraphMemoryError) -> Exit:
    """Return how a command ends that met this error."""
    match error:
        case ConfigError():
            return Exit.CONFIG
        case Unavailable():
            return Exit.BUSY
        case InvalidRequest():
            return Exit.USAGE
        case _:
            return Exit.FAILED
