"""One value of a setting: read leniently, kept within its bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import time
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from graph_memory.config.leaves import Filled, Interval, Range, split
from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.time_spans import parse_span

Expand = Callable[[str], Path]
"""Make a path absolute; raises `ValueError` where a variable in it isn't set."""

_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_SHOWN = 60


class OutOfRange(ValueError):
    """A number beyond its bounds; `clamped` is the nearest it may be."""

    def __init__(self, message: str, clamped: float) -> None:
        super().__init__(message)
        self.clamped = clamped


def read_scalar(annotation: object, value: object, expand: Expand) -> object:
    """Read one value as its annotation says; text from the environment is read like JSON values.

    Raises `OutOfRange` for a number beyond its bounds and `ValueError`, with what was expected, for anything else.
    """
    bare, said = split(annotation)
    read: Any
    if get_origin(bare) is Literal:
        read = _choice(get_args(bare), value)
    elif bare is Path:
        read = expand(_text(value))
    else:
        read = _READERS[bare](value)
    for rule in said:
        if isinstance(rule, Range):
            _keep_within(rule, read, bare)
        elif isinstance(rule, Filled) and not read:
            raise ValueError("it may not be empty")
        elif isinstance(rule, Interval):
            _check_interval(read)
    return read


def shown(value: object) -> str:
    """Return a value as it may stand in a message: short, on one line."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _keep_within(bounds: Range, read: Any, bare: type) -> None:  # noqa: ANN401 - int or float, as `bare` says
    clamped = min(max(read, bounds.low), bounds.high)
    if clamped != read:
        raise OutOfRange(f"{shown(read)} is not within {bounds.low:g} and {bounds.high:g}", bare(clamped))


def _check_interval(text: str) -> None:
    try:
        parse_span(text, argument="it")
    except InvalidRequest as error:
        raise ValueError(str(error).removeprefix("it: ")) from None


def _choice(choices: tuple[str, ...], value: object) -> str:
    wanted = str(value).strip().casefold()
    for choice in choices:
        if choice.casefold() == wanted:
            return choice
    raise ValueError(f"{shown(value)} is not one of {', '.join(choices)}")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{shown(value)} is not text")  # noqa: TRY004 - every reader refuses with ValueError
    return value.strip()


def _flag(value: object) -> bool:
    word = _WORDS.get(str(value).strip().casefold())
    if word is None:
        raise ValueError(f"{shown(value)} is neither true nor false")
    return word


def _number(value: object) -> float:
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{shown(value)} is not a number")
    return number


def _whole(value: object) -> int:
    number = _number(value)
    if number != int(number):
        raise ValueError(f"{shown(value)} is not a whole number")
    return int(number)


def _clock(value: object) -> time:
    try:
        clock = time.fromisoformat(_text(value))
    except ValueError:
        clock = None
    if clock is None or clock.tzinfo is not None:
        raise ValueError(f"{shown(value)} is not a local time like 03:00")
    return clock


_READERS: dict[object, Callable[[object], Any]] = {
    bool: _flag,
    int: _whole,
    float: _number,
    str: _text,
    time: _clock,
}
