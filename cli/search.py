"""`graph-memory search`: what the memory knows about something."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.place import place_of

if TYPE_CHECKING:
    from graph_memory.services.recall import EntityPage
    from graph_memory.services.search import Found

_ENTITIES = 10


def search(
    context: typer.Context,
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="Words as you would type them anywhere.")],
    *,
    project: Annotated[str | None, typer.Option(help="Only this project, and what belongs to none.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Most memories to show.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find memories and entities by text."""
    from cli import terminal
    from graph_memory.domain.memories import MemoryFilter
    from graph_memory.domain.principal import LOCAL_ADMIN

    query = " ".join(text)
    with place_of(context).services(is_reading=True) as services:
        where = MemoryFilter(project_id=project)
        page = services.memory_search.search(LOCAL_ADMIN, query, where, limit=limit)
        entities = services.recall.entities(LOCAL_ADMIN, search=query, limit=_ENTITIES)
    if as_json:
        terminal.show_json(_json(page.found, entities))
        return
    for warning in page.warnings:
        terminal.warn(warning)
    for found in page.found:
        show_found(found)
    for entity in entities.entities:
        relations = terminal.counted(entities.relation_counts.get(entity.id, 0), "relation")
        terminal.show_row(entity.type, f"{entity.name} · {relations}")
    if not page.found and not entities.entities:
        terminal.note("Nothing found.")


def show_found(found: "Found") -> None:
    """Show a memory that was found, with the part of it that shows why."""
    from cli import terminal
    from graph_memory.domain.memories import GLOBAL_PROJECT

    memory = found.memory
    project = "" if memory.project_id == GLOBAL_PROJECT else memory.project_id
    terminal.show(f"#{memory.id} {terminal.joined((memory.title, project, terminal.local(memory.created_at)))}", "bold")
    terminal.show(f"    {' '.join(found.snippet.split())}")


def _json(found: "tuple[Found, ...]", entities: "EntityPage") -> dict[str, Any]:
    from mcp_server.graph.shapes import brief_node
    from mcp_server.memory.shapes import memory_row
    from mcp_server.wire import number

    memories = [{**memory_row(it.memory), "rank": number(it.rank), "snippet": it.snippet} for it in found]
    nodes = [{**brief_node(it), "edge_count": entities.relation_counts.get(it.id, 0)} for it in entities.entities]
    return {"memories": memories, "count": len(memories), "entities": nodes}
