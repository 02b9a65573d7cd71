"""JSON from outside: what every part of the product can keep and write again."""

import math
from collections.abc import Mapping

from graph_memory.domain.entities import JsonValue
from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.redaction import redact

MAX_DEPTH = 32
"""How deep lists and objects may stand in one another."""
_BITS = 63


def cleaned_json(values: Mapping[str, JsonValue], *, argument: str) -> dict[str, JsonValue]:
    """Return a JSON object with every text in it redacted.

    Raises:
        InvalidRequest: a number is not finite or has more than 64 bits, a text holds half a character, or values are
            nested too deeply: readers of JSON differ in what they make of these, and one such value would spoil every
            reply and backup it stands in. The text names `argument` and what to do.
    """
    return {_whole(name, argument): _cleaned(value, argument, MAX_DEPTH) for name, value in values.items()}


def _cleaned(value: JsonValue, argument: str, depth: int) -> JsonValue:
    if depth == 0:
        raise InvalidRequest(f"{argument}: is nested more than {MAX_DEPTH} deep; flatten it", argument=argument)
    if isinstance(value, str):
        return redact(_whole(value, argument)).text
    if isinstance(value, list):
        return [_cleaned(it, argument, depth - 1) for it in value]
    if isinstance(value, dict):
        return {_whole(name, argument): _cleaned(it, argument, depth - 1) for name, it in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidRequest(f"{argument}: {value} is no number of JSON; leave it out", argument=argument)
    if isinstance(value, int) and value.bit_length() > _BITS:
        raise InvalidRequest(
            f"{argument}: holds a whole number of more than {_BITS + 1} bits; give it as text", argument=argument
        )
    return value


def _whole(text: str, argument: str) -> str:
    """Return a text whose every character is whole: half of one has no UTF-8."""
    if not text.isascii() and any("\ud800" <= it <= "\udfff" for it in text):
        raise InvalidRequest(f"{argument}: holds half a character (a lone surrogate); leave it out", argument=argument)
    return text
