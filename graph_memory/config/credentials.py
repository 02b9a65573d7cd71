"""Secrets: from the environment or `credentials.env`, and shown nowhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PASSWORD = "NEO4J_PASSWORD"  # noqa: S105 - the variable's name
_LONGEST = 65_536


@dataclass(frozen=True, slots=True)
class Credentials:
    """What proves to others who we are; no representation of it shows a value."""

    neo4j_password: str | None = field(default=None, repr=False)

    def described(self) -> dict[str, str]:
        """Say what is there, without saying what it is."""
        return {"neo4j_password": "set" if self.neo4j_password else "not set"}


def read_credentials(environ: Mapping[str, str]) -> Credentials:
    """Take the secrets out of the environment; an empty one counts as absent."""
    return Credentials(neo4j_password=environ.get(PASSWORD) or None)


def read_credentials_file(path: Path) -> dict[str, str]:
    """Read `NAME=value` lines; an absent file has none.

    A value is all that follows the first `=`, without the white space around it and one pair of quotes; there are no
    comments behind values, since passwords have `#` in them. Raises `ValueError`, which says why and never what was
    read, for a file that others can read or write, that belongs to someone else, or that has a line of another form.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ValueError(f"it can't be read: {error.strerror}") from None
    try:
        status = os.fstat(descriptor)  # of what was opened, so that nothing can be put in its place meanwhile
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is no file; ignored")
        if status.st_mode & 0o077:
            raise ValueError(f"others may read or write it (mode {status.st_mode & 0o777:04o}); refused: chmod 600 it")
        if status.st_uid != os.geteuid():
            raise ValueError("it belongs to another user; refused")
        return _parse(os.read(descriptor, _LONGEST))
    finally:
        os.close(descriptor)


def _parse(raw: bytes) -> dict[str, str]:
    values: dict[str, str] = {}
    try:
        lines = raw.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8; ignored") from None
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.removeprefix("export ").partition("=")
        if not equals or not name.strip():
            raise ValueError(f"line {number} is not NAME=value; the file is ignored")
        values[name.strip()] = _unquoted(value.strip())
    return values


def _unquoted(value: str) -> str:
    quotes = "\"'"
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in quotes else value
