"""Lay a file or the environment over the settings, and say what was wrong with it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from typing import Any, get_args

from graph_memory.config.leaves import Filled, field_types, plain, split, walk
from graph_memory.config.scalars import Expand, OutOfRange, read_scalar, shown
from graph_memory.config.settings import Settings

_UNREAD = object()
_SECRET_WORDS = ("password", "secret", "token", "api_key", "apikey", "credential")


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """Something that was not taken as it was written: which setting, from where, and what was done instead."""

    setting: str
    source: str
    message: str

    def __str__(self) -> str:
        """Return it as one line."""
        return f"{self.setting} ({self.source}): {self.message}"


@dataclass(frozen=True, slots=True)
class Layer:
    """One place that settings come from; relative paths in it are made absolute by `expand`."""

    source: str
    expand: Expand


@dataclass(slots=True)
class Overlay:
    """The settings with what has been laid over them so far.

    Nothing raises: a number beyond its bounds is clamped, anything else that is wrong leaves the value as it was, and
    both are in `problems`. `sources` names where each setting that was set comes from.
    """

    settings: Settings = field(default_factory=Settings)
    problems: list[ConfigProblem] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)

    def lay(self, values: object, layer: Layer) -> None:
        """Merge nested values into the tree, key by key."""
        self.settings = _Pass(self, layer).section(self.settings, values, "")

    def report(self, setting: str, source: str, message: str) -> None:
        """Note something that was not taken as it was written."""
        self.problems.append(ConfigProblem(setting, source, message))

    def report_unknown(self, path: str, source: str, siblings: Iterable[str]) -> None:
        """Note a setting that doesn't exist, with the nearest that does; its value is never shown."""
        parent, dot, name = path.rpartition(".")
        if any(word in name.casefold() for word in _SECRET_WORDS):
            self.report(path, source, "not a setting; secrets are read from the environment or credentials.env alone")
            return
        nearest = _nearest(name, {sibling: parent + dot + sibling for sibling in siblings}) or _nearest(
            name, {leaf.path.rpartition(".")[2]: leaf.path for leaf in walk(self.settings)}
        )
        self.report(path, source, f"no such setting; did you mean {nearest}?" if nearest else "no such setting")


@dataclass(frozen=True, slots=True)
class _Pass:
    """One layer on its way over the tree."""

    over: Overlay
    layer: Layer

    def section(self, section: Any, values: object, prefix: str) -> Any:  # noqa: ANN401 - any section of the tree
        if not isinstance(values, Mapping):
            self._report(prefix.rstrip(".") or "all of it", f"{shown(values)} is not an object; ignored")
            return section
        known = field_types(type(section))
        changes: dict[str, object] = {}
        for name, value in values.items():
            path = prefix + str(name)
            if name not in known:
                self.over.report_unknown(path, self.layer.source, known)
            elif is_dataclass(current := getattr(section, name)):
                changes[name] = self.section(current, value, path + ".")
            else:
                changes[name] = self._leaf(known[name], current, value, path)
        return replace(section, **changes)

    def _leaf(self, annotation: object, current: object, value: object, path: str) -> object:
        if isinstance(current, tuple):
            return self._list(annotation, current, value, path)
        if isinstance(current, Mapping):
            return self._table(annotation, current, value, path)
        return self._scalar(annotation, current, value, path)

    def _scalar(self, annotation: object, current: object, value: object, path: str) -> object:
        read = self._read(annotation, value, path, f"{shown(plain(current))} is used")
        if read is _UNREAD:
            return current
        self.over.sources[path] = self.layer.source
        return read

    def _read(self, annotation: object, value: object, path: str, otherwise: str) -> object:
        """Read one value, clamped where it must be; `_UNREAD`, and a report of what is done `otherwise`, if not."""
        try:
            return read_scalar(annotation, value, self.layer.expand)
        except OutOfRange as out:
            self._report(path, f"{out}; {out.clamped:g} is used")
            return out.clamped
        except ValueError as error:
            self._report(path, f"{error}; {otherwise}")
            return _UNREAD

    def _list(self, annotation: object, current: tuple[object, ...], value: object, path: str) -> object:
        """Read a list: what is wrong in it is left out, the rest is taken. Text is separated like `PATH`."""
        bare, said = split(annotation)
        if isinstance(value, str):
            value = [part for part in value.split(os.pathsep) if part.strip()]
        if not isinstance(value, list):
            self._report(path, f"{shown(value)} is not a list; {shown(plain(current))} is used")
            return current
        per_item = get_args(bare)[0]
        read = [self._read(per_item, item, path, "left out") for item in value]
        items = dict.fromkeys(item for item in read if item is not _UNREAD)
        if not items and (value or any(isinstance(rule, Filled) for rule in said)):
            self._report(path, f"nothing usable in it; {shown(plain(current))} is used")
            return current
        self.over.sources[path] = self.layer.source
        return tuple(items)

    def _table(self, annotation: object, current: Mapping[str, object], value: object, path: str) -> object:
        """Merge a table key by key; a key that differs from a known one in case alone is that one."""
        if not isinstance(value, Mapping):
            self._report(path, f"{shown(value)} is not an object; ignored")
            return current
        per_key = get_args(split(annotation)[0])[1]
        spelled = {key.casefold(): key for key in current}
        merged = dict(current)
        for name, entry in value.items():
            key = spelled.get(str(name).casefold(), str(name))
            read = self._read(per_key, entry, f"{path}.{key}", "left as it was")
            if read is not _UNREAD:
                merged[key] = read
                self.over.sources[path] = self.layer.source
        return merged

    def _report(self, setting: str, message: str) -> None:
        self.over.report(setting, self.layer.source, message)


def _nearest(name: str, paths: Mapping[str, str]) -> str:
    from difflib import get_close_matches  # only a mistake pays for it

    found = get_close_matches(name, paths, 1)
    return paths[found[0]] if found else ""
