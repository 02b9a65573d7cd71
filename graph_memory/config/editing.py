"""Change one section of a home's `config.json` and leave the rest of the file as it was written, byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from filelock import FileLock, Timeout

from graph_memory.domain.errors import ConfigError, Unavailable
from graph_memory.whole_files import PRIVATE, put_file

if TYPE_CHECKING:
    from pathlib import Path

    from graph_memory.home import Home

Change = Callable[[dict[str, Any]], dict[str, Any]]
"""From what a section holds to what it is to hold; it may be called with `{}` where there is no such section."""

_BOM = "\ufeff"
_PATIENCE = 10.0
_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\{\r?\n([ \t]+)\"")


class _Member(NamedTuple):
    """Where the value of a member stands in the text."""

    start: int
    end: int
    value: Any


def change_section(home: Home, section: str, change: Change) -> bool:
    """Replace a section of the settings file by what `change` makes of it; tell whether that differs.

    The file is made where there is none. It is replaced as a whole, where a link leads to if it is one, so that a
    reader sees the old text or the new one; two that change it at once do so one after the other.

    Raises:
        ConfigError: the file is not JSON, its section is no object, or it can't be written; it is left as it was.
        Unavailable: somebody else is changing it and does not come to an end.
    """
    file = home.config_file.resolve()
    try:
        with FileLock(home.path / ".config.lock", timeout=_PATIENCE, mode=PRIVATE):
            text = _read(file)
            changed = edited(text, section, change)
            if changed is None:
                return False
            put_file(file, changed.encode(), mode=_mode(file))
    except Timeout:
        raise Unavailable(f"somebody else is changing {file}; try again") from None
    except OSError as error:
        raise ConfigError(f"{file} can't be changed: {error.strerror}") from error
    return True


def edited(text: str, section: str, change: Change) -> str | None:
    """Return a settings file's text with one section changed; `None` where that changes nothing.

    Raises:
        ConfigError: it is not JSON, or not what settings look like.
    """
    mark, body = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    if not body.strip():
        body = "{}\n"
    members, closing = _members(body)
    known = members.get(section)
    before = {} if known is None else known.value
    if not isinstance(before, dict):
        raise ConfigError(f"{section} in config.json is not an object; mend it first")
    after = change({**before})
    if after == before:
        return None
    found = _INDENT.search(body)
    unit = found[1] if found else "  "
    written = json.dumps(after, indent=unit, ensure_ascii=False).replace("\n", "\n" + unit)
    if known is not None:
        return mark + body[: known.start] + written + body[known.end :]
    entry = f"{unit}{json.dumps(section)}: {written}"
    if not members:
        return f"{mark}{{\n{entry}\n}}\n"
    last = max(it.end for it in members.values())
    return f"{mark}{body[:last]},\n{entry}\n{body[closing:]}"


def _members(text: str) -> tuple[dict[str, _Member], int]:
    """Return the members of the one object that a text is, the last of those with the same name, and where it closes.

    Raises:
        ConfigError: it is no object, or no JSON.
    """
    try:
        whole = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"config.json is not JSON ({error}); mend it first, it was not changed") from None
    if not isinstance(whole, dict):
        raise ConfigError("config.json is not an object; mend it first, it was not changed")
    decoder, members = json.JSONDecoder(), dict[str, _Member]()
    at = _past_space(text, text.index("{") + 1)
    while text[at] != "}":
        name, at = decoder.raw_decode(text, at)
        start = _past_space(text, _past_space(text, at) + 1)  # past the colon
        value, end = decoder.raw_decode(text, start)
        members[name] = _Member(start, end, value)
        at = _past_space(text, end)
        if text[at] == ",":
            at = _past_space(text, at + 1)
    return members, at


def _past_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise ConfigError("config.json is not UTF-8; mend it first, it was not changed") from None


def _mode(file: Path) -> int:
    """Return the permissions that a file has: whoever set them meant them."""
    try:
        return file.stat().st_mode & 0o777
    except FileNotFoundError:
        return PRIVATE
