"""Conversations in JSON: the exports of chat programs and their like, told by the shape of their messages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SPEAKERS = ("role", "sender", "author", "from", "speaker", "user", "name")
_SPEECHES = ("text", "content", "message", "body", "parts")
_MESSAGES = ("messages", "chat_messages", "conversation", "turns", "chat", "history")
_TITLES = ("title", "name", "subject")
_SILENT = frozenset({"system", "tool"})
_MOST_DEPTH = 30


@dataclass(frozen=True, slots=True)
class Conversation:
    """Who said what, in order; `title` is empty where it has none."""

    title: str
    messages: Sequence[str]


def find_conversations(value: Any) -> tuple[Conversation, ...]:  # noqa: ANN401 - JSON is any value
    """Return the conversations that a JSON value is, or none where it is something else.

    A list of messages; an object with one under a usual name, or with a tree of them (`mapping`); several lists in an
    object, one for each session; or a list of such objects.
    """
    single = _conversation(value, 0)
    if single:
        return tuple(single)
    if isinstance(value, list):
        each = [_conversation(it, 1) for it in value]
        if each and all(it is not None for it in each):
            return tuple(it for some in each if some for it in some)
    return ()


def _conversation(value: Any, depth: int) -> list[Conversation] | None:  # noqa: ANN401 - JSON is any value
    """Return what a value holds, nothing said included, or `None` where it is no conversation."""
    if isinstance(value, list):
        spoken = _spoken(value)
        return None if spoken is None else [Conversation("", spoken)] if spoken else []
    if not isinstance(value, dict) or depth > 1:
        return None
    title = title_of(value)
    if isinstance(value.get("mapping"), dict):
        spoken = _spoken(_branch(value["mapping"], value.get("current_node")))
        return None if spoken is None else [Conversation(title, spoken)] if spoken else []
    for name in _MESSAGES:
        held = value.get(name)
        if isinstance(held, list):
            spoken = _spoken(held)
            if spoken is not None:
                return [Conversation(title, spoken)] if spoken else []
        elif isinstance(held, dict):
            sessions = list(_sessions(held))
            if sessions:
                return sessions
    return None


def title_of(value: Any) -> str:  # noqa: ANN401 - JSON is any value
    """Return what an object calls itself, or nothing."""
    if not isinstance(value, dict):
        return ""
    return next((" ".join(it.split()) for name in _TITLES if isinstance(it := value.get(name), str) and it.strip()), "")


def _sessions(value: Mapping[str, Any]) -> Iterator[Conversation]:
    for name, held in value.items():
        spoken = _spoken(held) if isinstance(held, list) else None
        if spoken:
            yield Conversation(name.replace("_", " "), spoken)


def _branch(nodes: Mapping[str, Any], last: Any) -> list[Any]:  # noqa: ANN401 - JSON is any value
    """Return the messages from the root to the last node, or to the one that nothing follows, of a tree of them."""
    node = last if isinstance(last, str) and last in nodes else next(reversed(list(nodes)), None)
    messages: list[Any] = []
    seen: set[str] = set()
    while isinstance(node, str) and node in nodes and node not in seen:
        seen.add(node)
        held = nodes[node]
        if not isinstance(held, dict):
            break
        if held.get("message") is not None:
            messages.append(held["message"])
        node = held.get("parent")
    return messages[::-1]


def _spoken(values: Sequence[Any]) -> list[str] | None:
    """Return `who: what` of each message with words, or `None` where something is no message."""
    if not values:
        return None
    messages = [_message(it) for it in values]
    if any(it is None for it in messages):
        return None
    return [it for it in messages if it]


def _message(value: Any) -> str | None:  # noqa: ANN401 - JSON is any value
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("message"), dict) and not any(name in value for name in _SPEECHES if name != "message"):
        value = value["message"]
    speaker = next((who for name in _SPEAKERS if (who := _speaker(value.get(name)))), None)
    speeches = [said for name in _SPEECHES if (said := _said(value.get(name), 0)) is not None]
    if speaker is None or not speeches:
        return None
    said = next((it.strip() for it in speeches if it.strip()), "")
    return f"{speaker}: {said}" if said and speaker not in _SILENT else ""


def _speaker(value: Any) -> str | None:  # noqa: ANN401 - JSON is any value
    if isinstance(value, dict):
        value = next((it for name in ("name", "role") if isinstance(it := value.get(name), str) and it), None)
    return value if isinstance(value, str) and value.strip() else None


def _said(value: Any, depth: int) -> str | None:  # noqa: ANN401 - JSON is any value
    """Return the words of a text, of a list of parts, or of an object that holds them."""
    if isinstance(value, str):
        return value
    if depth > _MOST_DEPTH:
        return None
    if isinstance(value, dict):
        return _said(value.get("text", value.get("parts")), depth + 1)
    if isinstance(value, list):
        return "\n".join(it for part in value if (it := _said(part, depth + 1)))
    return None
