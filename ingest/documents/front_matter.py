"""Front matter: the YAML between `---` lines at the head of a note.

YAML gives `No` for a Norwegian and 83 for `0123`; here every value is first the text that was written, and becomes a
number or truth only where that text can be had back.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import yaml

from graph_memory.domain.entities import JsonValue
from graph_memory.domain.wikilinks import find_wikilinks

_BLOCK = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_LARGEST = 65_536
"""Characters; what goes on longer is no front matter."""
_MOST_VALUES = 10_000
"""Values; a few lines with aliases of aliases stand for billions."""
_MOST_DEPTH = 20
# The one in C where there is one; both give texts, lists and mappings alone, so both are safe.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_CONSTANTS: Mapping[str, JsonValue] = MappingProxyType(
    {"": None, "null": None, "~": None, "true": True, "false": False}
)
_NOTHING: Mapping[str, JsonValue] = MappingProxyType({})
_LONGEST_NUMBER = 18


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands at the head of a note.

    `written` has every value as it was written, `values` as what it means. `end` is where the text after it begins; of
    what can't be parsed there is no value and a `warning`.
    """

    written: Mapping[str, JsonValue] = field(default_factory=lambda: _NOTHING)
    values: Mapping[str, JsonValue] = field(default_factory=lambda: _NOTHING)
    end: int = 0
    warning: str | None = None

    def texts(self, *names: str) -> tuple[str, ...]:
        """Return what the first of some keys that says anything says; a link stands for its name."""
        for name in names:
            texts = tuple(dict.fromkeys(_texts(self.written.get(name))))
            if texts:
                return texts
        return ()

    def text(self, *names: str) -> str | None:
        """Return the first of these texts."""
        return next(iter(self.texts(*names)), None)

    def links(self) -> tuple[str, ...]:
        """Return every link in it, as it is written in a text."""
        return tuple(dict.fromkeys(_links(self.written)))


def read_front_matter(text: str) -> FrontMatter:
    """Read the front matter of a note; it begins on the first line or not at all."""
    block = _BLOCK.match(text, 0, _LARGEST)
    if block is None:
        return FrontMatter()
    try:
        loaded = yaml.load(block[1], Loader=_LOADER)  # noqa: S506 - a loader of texts, lists and mappings
        written = {} if loaded is None else _Budget().plain(loaded)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" (line {mark.line + 2})"
        return FrontMatter(end=block.end(), warning=f"the front matter can't be parsed{where}; it was kept as text")
    if not isinstance(written, dict):
        return FrontMatter()  # a rule above some lines, and another one below
    values = {name: _meant(value) for name, value in written.items()}
    return FrontMatter(written, values, block.end())


class _Budget:
    """Copies what the parser made, as long as it is of a size that people write."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def plain(self, value: Any, depth: int = 0) -> JsonValue:  # noqa: ANN401 - YAML is any value
        self._left -= 1
        if self._left < 0 or depth > _MOST_DEPTH:
            raise ValueError("too many values")
        if isinstance(value, dict):
            return {str(name): self.plain(it, depth + 1) for name, it in value.items()}
        if isinstance(value, list):
            return [self.plain(it, depth + 1) for it in value]
        return str(value)


def _meant(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {name: _meant(it) for name, it in value.items()}
    if isinstance(value, list):
        return [_meant(it) for it in value]
    assert isinstance(value, str)
    if value in _CONSTANTS:
        return _CONSTANTS[value]
    if len(value) <= _LONGEST_NUMBER and value.isascii() and value[-1].isdigit():
        for kind in (int, float):
            try:
                number = kind(value)
            except ValueError:
                continue
            if str(number) == value:
                return number
    return value


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield what a value says: one text, or several in a list; an unquoted [[link]] is a list in a list."""
    if isinstance(value, list):
        for it in value:
            yield from _texts(it)
    elif isinstance(value, str):
        text = " ".join(value.split())
        links = find_wikilinks(text)
        if len(links) == 1 and links[0].span == (0, len(text)):
            text = links[0].alias or links[0].target
        if text and text not in {"null", "~"}:
            yield text


def _links(value: JsonValue | Mapping[str, JsonValue]) -> Iterator[str]:
    if isinstance(value, str):
        yield from (value[slice(*link.span)] for link in find_wikilinks(value))
    elif isinstance(value, Mapping):
        for it in value.values():
            yield from _links(it)
    elif isinstance(value, list):
        match value:
            case [[str(target)]] if target.strip():
                yield f"[[{target}]]"
            case _:
                for it in value:
                    yield from _links(it)
