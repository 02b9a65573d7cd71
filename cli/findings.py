"""What a check of `doctor` finds, and what can be done about it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum


class Level(StrEnum):
    """How bad a finding is; only an error makes the command fail."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


Fix = Callable[[], str]
"""Mends what was found, and says in a few words what it did. It may be called again, and harms nothing that is well."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found, and what a person can do about it; `fix` does it, where that is safe."""

    check: str
    level: Level
    message: str
    remedy: str = ""
    fix: Fix | None = field(default=None, compare=False)


def well(check: str, message: str) -> Finding:
    """Say that something is as it should be."""
    return Finding(check, Level.OK, message)


def worse(check: str, message: str, remedy: str, fix: Fix | None = None) -> Finding:
    """Say that something works less well than it should."""
    return Finding(check, Level.WARNING, message, remedy, fix)


def bad(check: str, message: str, remedy: str, fix: Fix | None = None) -> Finding:
    """Say that something does not work."""
    return Finding(check, Level.ERROR, message, remedy, fix)
