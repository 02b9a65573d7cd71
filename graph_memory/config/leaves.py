"""The single settings of the tree: their paths, types, bounds and descriptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import time
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints


@dataclass(frozen=True, slots=True)
class Range:
    """The closed interval that a number is clamped to."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Filled:
    """Text or a list that may not be empty."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Text that has to be two instants with a stroke between them; see `domain.time_spans`."""


@dataclass(frozen=True, slots=True)
class About:
    """The line of `docs/configuration.md` that says what a setting is for."""

    text: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """One setting: its dotted path, its value in the tree walked, its annotation, and what it is for."""

    path: str
    value: object
    annotation: object
    about: str


def walk(section: object, prefix: str = "") -> Iterator[Leaf]:
    """List the settings of a section and of those below it, in the order they are written in."""
    for name, annotation in field_types(type(section)).items():
        value = getattr(section, name)
        path = prefix + name
        if is_dataclass(value):
            yield from walk(value, path + ".")
        else:
            about = next((said.text for said in split(annotation)[1] if isinstance(said, About)), "")
            yield Leaf(path, value, annotation, about)


def field_types(section: type) -> dict[str, object]:
    """Return the annotations of a section's fields, `Annotated` kept."""
    hints = get_type_hints(section, include_extras=True)
    return {part.name: hints[part.name] for part in fields(section)}


def split(annotation: object) -> tuple[Any, tuple[object, ...]]:
    """Split an annotation into the bare type and what is said about it."""
    if get_origin(annotation) is Annotated:
        bare, *said = get_args(annotation)
        return bare, tuple(said)
    return annotation, ()


def plain(value: object) -> Any:  # noqa: ANN401 - JSON
    """Return a setting's value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, time):
        return value.isoformat("minutes") if not value.second else value.isoformat()
    if isinstance(value, Path):
        return str(value)
    return value
