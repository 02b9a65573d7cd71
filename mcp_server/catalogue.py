"""The catalogue: every tool, with the schemas made from its method."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model

from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.principal import Principal

Family = Literal["graph", "memory", "sql"]


@dataclass(frozen=True, slots=True)
class Paging:
    """How a reply that is too long is cut.

    `field` is what gives way: a list, a map or a text, by its path (`health.jobs`). `has_offset`: the tool takes an
    `offset`, so that the rest can be asked for. `count` is the field that says how long the list is.
    """

    field: str
    has_offset: bool = False
    count: str = ""


@dataclass(frozen=True)
class ToolSpec:
    """A tool: its method on a tool class, and what clients are told of it.

    The method's first argument is the caller; the others, with their annotations and defaults, are the tool's. Its
    docstring is the description that a model reads. Schemas are made when they are first asked for, so that a server
    starts without them.
    """

    method: Callable[..., Mapping[str, Any]]
    family: Family
    is_read_only: bool = False
    is_destructive: bool = False
    is_idempotent: bool = False
    is_admin_only: bool = False
    paging: tuple[Paging, ...] = field(default=())

    @property
    def name(self) -> str:
        """The name on the wire."""
        return self.method.__name__

    @cached_property
    def description(self) -> str:
        """The docstring, in one piece."""
        return inspect.cleandoc(self.method.__doc__ or "").replace("\n", " ")

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.method, include_extras=True)

    @cached_property
    def _arguments(self) -> type[BaseModel]:
        parameters = list(inspect.signature(self.method).parameters.values())[1:]
        fields: dict[str, Any] = {
            it.name: (self._hints[it.name], ... if it.default is inspect.Parameter.empty else it.default)
            for it in parameters
        }
        config = ConfigDict(extra="forbid", allow_inf_nan=False)
        return create_model(self.name, __config__=config, **fields)

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        schema: dict[str, Any] = _compact(self._arguments.model_json_schema())
        schema.setdefault("properties", {})
        return schema

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of the reply."""
        schema: dict[str, Any] = _compact(TypeAdapter(self._hints["return"]).json_schema())
        return schema

    def checked(self, caller: Principal, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return all arguments of a call, with the defaults of those left out.

        Raises:
            InvalidRequest: the caller may not use the tool, or an argument is unknown, missing or of the wrong kind;
                the text names it.
        """
        if self.is_admin_only and not caller.is_admin:
            raise InvalidRequest(f"{self.name} is for the admin tenant alone")
        try:
            given = self._arguments.model_validate(arguments)
        except ValidationError as error:
            raise self._refusal(error) from None
        return {name: getattr(given, name) for name in type(given).model_fields}

    def call(self, caller: Principal, checked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run the method with checked arguments."""
        return self.method(caller, **checked)

    def _refusal(self, error: ValidationError) -> InvalidRequest:
        texts = []
        argument = ""
        for problem in error.errors(include_url=False, include_context=False, include_input=False):
            path = ".".join(str(part) for part in problem["loc"])
            argument = argument or path
            if problem["type"] == "extra_forbidden":
                known = self._known_beside(problem["loc"])
                near = _nearest(str(problem["loc"][-1]), known)
                hint = f"did you mean {near!r}?" if near else f"there are: {', '.join(known) or 'none'}"
                texts.append(f"{path}: unknown argument; {hint}")
            else:
                texts.append(f"{path}: {problem['msg']}")
        return InvalidRequest("; ".join(texts[:5]), argument=argument)

    def _known_beside(self, path: Sequence[int | str]) -> list[str]:
        """List the names that may stand where `path` leads."""
        here = self.input_schema
        for part in path[:-1]:
            here = here.get("items" if isinstance(part, int) else "properties", {})
            here = here if isinstance(part, int) else here.get(part, {})
            if "$ref" in here:
                here = self.input_schema["$defs"][here["$ref"].rpartition("/")[2]]
        return list(here.get("properties", {}))


def _nearest(given: str, known: Sequence[str]) -> str | None:
    """Return the name that is very like `given`, else has it among its words (`id`: `entity_id`), else is like it."""
    parts = [it for it in known if given.casefold() in it.casefold().split("_")]
    very, like = (get_close_matches(given, known, n=1, cutoff=cutoff) for cutoff in (0.7, 0.5))
    return next(iter([*very, *parts, *like]), None)


def _compact(schema: Any) -> Any:  # noqa: ANN401 - JSON Schema is any JSON
    """Leave out what a model need not read: titles, and `null` where an argument may be left out anyway."""
    if isinstance(schema, list):
        return [_compact(it) for it in schema]
    if not isinstance(schema, dict):
        return schema
    short = {key: _compact(value) for key, value in schema.items() if not (key == "title" and isinstance(value, str))}
    choices = short.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices and "default" in short:
        rest = [it for it in choices if it != {"type": "null"}]
        if len(rest) == 1:
            del short["anyOf"]
            short = {**rest[0], **short}
            if short.get("default") is None:
                del short["default"]
    if isinstance(short.get("properties"), dict):
        # A property may itself be called "title".
        short["properties"] = {name: _compact(value) for name, value in schema["properties"].items()}
    return short
