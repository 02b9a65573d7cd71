"""The tool that forgets a source for good."""

from collections.abc import Callable
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from graph_memory.bootstrap import Services
from graph_memory.domain.forgetting import Reach, reach_of_dates
from graph_memory.domain.principal import Principal
from graph_memory.services.forget import Forgetting
from ingest.forgetting import forgetting
from mcp_server.wire import read_instant

UNSEEN = "nothing of it is stored; a session, project or time that is forgotten is not learned later either"
ABSENT = "nothing of it is stored; memory_search, memory_recent and graph_query show what is"
SHARED = "notes that stay still write its name: {count}; find them with memory_search"


class ForgetReply(TypedDict):
    """What was forgotten, or would be: counts."""

    mode: str
    found: bool
    memories: int
    documents: int
    entities: int
    relations: int
    recomputed: int
    inbox_files: int
    archive_files: int
    backups: int
    examples: NotRequired[list[str]]
    complete: NotRequired[bool]
    warnings: NotRequired[list[str]]


class GraphForgetting:
    """Forgetting."""

    def __init__(self, services: Callable[[], Services]) -> None:
        self._services = services

    def graph_forget(
        self,
        caller: Principal,
        source_session: str | None = None,
        source_file: Annotated[str | None, Field(description="as source_file or graph_ingest show it")] = None,
        entity_id: str | None = None,
        memory_id: int | None = None,
        project: Annotated[str | None, Field(description="a project_id, exactly")] = None,
        after: Annotated[str | None, Field(description="with before: when it was said, not learned")] = None,
        before: str | None = None,
        mode: Literal["preview", "execute"] = "preview",
        reason: Annotated[str | None, Field(description="not kept: it may repeat what goes")] = None,
    ) -> ForgetReply:
        """Call only when the user asks to forget: erases for good all that came from exactly one source, in notes,
        graph, archive, inbox, audit and backups, never to be learned again. What others support too is recomputed. Show
        the preview first; nothing undoes it. For one note use memory_forget, to correct a fact graph_weaken."""
        warnings: list[str] = []
        dates = reach_of_dates(
            read_instant(after, "after", warnings),
            read_instant(before, "before", warnings),
        )
        reach = Reach(source_session, source_file, entity_id, memory_id, project, dates)
        return forgotten(self._services(), caller, reach, mode, reason, warnings)


def forgotten(
    services: Services, caller: Principal, reach: Reach, mode: str, reason: str | None, warnings: list[str]
) -> ForgetReply:
    """Preview or execute, and tell what it came to."""
    forget = forgetting(services)
    if mode == "preview":
        done = forget.preview(caller, reach)
    else:
        done = forget.execute(caller, reach, has_reason=bool(reason and reason.strip()))
        services.audit.drain(caller)
    return _reply(done, mode, warnings)


def _reply(done: Forgetting, mode: str, warnings: list[str]) -> ForgetReply:
    reply: ForgetReply = {
        "mode": mode,
        "found": done.is_found,
        "memories": done.memories,
        "documents": done.documents,
        "entities": done.entities,
        "relations": done.relations,
        "recomputed": done.recomputed,
        "inbox_files": done.copies.inbox,
        "archive_files": done.copies.archive,
        "backups": done.backups,
    }
    if not done.is_found:
        warnings.append(UNSEEN if done.is_open_ended else ABSENT)
    if done.named_in:
        warnings.append(SHARED.format(count=done.named_in))
    if done.unreadable_backups:
        warnings.append(f"backups that could not be read were removed: {done.unreadable_backups}")
    warnings += (f"not erased yet, the daemon tries again: {it}" for it in done.problems)
    if done.is_executed:
        reply["complete"] = not done.problems
    else:
        reply["examples"] = list(done.examples)
    if warnings:
        reply["warnings"] = warnings
    return reply
