"""`graph-memory exclude`: what a person does not want to be learned."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.place import place_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graph_memory.bootstrap import Services
    from graph_memory.config import LoadedConfig

    Chosen = Mapping[str, Sequence[str]]

app = typer.Typer(
    help="Say what is never learned: projects, folders, sessions, times.", no_args_is_help=True, rich_markup_mode=None
)

Projects = Annotated[list[str] | None, typer.Option("--project", metavar="NAME", help="A project, by its id.")]
Folders = Annotated[list[Path] | None, typer.Option("--folder", metavar="PATH", help="A folder with all below it.")]
Sessions = Annotated[list[str] | None, typer.Option("--session", metavar="ID", help="A session, by its id.")]
Times = Annotated[
    list[str] | None,
    typer.Option("--time", metavar="FROM/TO", help="What was said then, as two ISO-8601 instants with a stroke."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("add")
def add(
    context: typer.Context,
    *,
    projects: Projects = None,
    folders: Folders = None,
    sessions: Sessions = None,
    times: Times = None,
    as_json: AsJson = False,
) -> None:
    """Learn nothing more of these.

    A running daemon obeys within seconds. What is stored already stays: the command says how much that is and how to
    forget it. An empty `.no-memory` file in a folder does the same for that folder, without any command.
    """
    from cli import terminal

    chosen = _chosen(projects, folders, sessions, times)
    config = place_of(context).load()
    config.home.ensure()
    added = change_exclusions(config, chosen, is_adding=True)
    stored = _stored(config, chosen)
    _report("added", added, stored, as_json=as_json)
    for hint in _misspelt(config, [it for it in chosen["projects"] if not stored.get(it)]):
        terminal.note(hint)


@app.command("remove")
def remove(
    context: typer.Context,
    *,
    projects: Projects = None,
    folders: Folders = None,
    sessions: Sessions = None,
    times: Times = None,
    as_json: AsJson = False,
) -> None:
    """Learn these again, from now on.

    What was passed over meanwhile stays so.
    """
    chosen = _chosen(projects, folders, sessions, times)
    removed = change_exclusions(place_of(context).load(), chosen, is_adding=False)
    _report("removed", removed, {}, as_json=as_json)


@app.command("list")
def list_excluded(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List what is never learned, with how much is stored from it all the same."""
    from cli import terminal

    config = place_of(context).load_warning()
    chosen = _in_force(config)
    stored = _stored(config, chosen)
    if as_json:
        terminal.show_json({**chosen, "stored": stored})
        return
    for kind, values in chosen.items():
        for value in values:
            terminal.show_row(kind, terminal.joined((value, _words(stored.get(value)))))
    if not any(chosen.values()):
        terminal.note("Nothing is excluded, but for folders with a .no-memory file.")


def _chosen(
    projects: "Sequence[str] | None",
    folders: "Sequence[Path] | None",
    sessions: "Sequence[str] | None",
    times: "Sequence[str] | None",
) -> "Chosen":
    """Return what was named, as it is written down.

    Raises:
        BadParameter: nothing was named, or something that can't be meant.
    """
    from os.path import normpath

    from graph_memory.domain.errors import InvalidRequest
    from graph_memory.domain.time_spans import parse_span

    try:
        spans = [str(parse_span(it, argument="--time")) for it in times or ()]
    except InvalidRequest as error:
        raise typer.BadParameter(str(error)) from None
    chosen = {
        "projects": _names(projects or (), "--project"),
        "folders": [normpath(Path.cwd() / it.expanduser()) for it in folders or ()],
        "sessions": _names(sessions or (), "--session"),
        "times": spans,
    }
    if not any(chosen.values()):
        raise typer.BadParameter("name at least one --project, --folder, --session or --time")
    return chosen


def _names(values: "Sequence[str]", option: str) -> list[str]:
    names = [it.strip() for it in values]
    if not all(it and it.isprintable() for it in names):
        raise typer.BadParameter("it is empty, or has characters that no name has", param_hint=option)
    return names


def _in_force(config: "LoadedConfig") -> "Chosen":
    from graph_memory.config.leaves import plain

    exclude = config.settings.exclude
    return {name: plain(getattr(exclude, name)) for name in ("projects", "folders", "sessions", "times")}


def change_exclusions(config: "LoadedConfig", chosen: "Chosen", *, is_adding: bool) -> "Chosen":
    """Write the choice into the settings file, and return what of it is new, or gone.

    Raises:
        ConfigError: the file can't be changed, or something else than the file decides.
    """
    from graph_memory.config.editing import change_section
    from graph_memory.domain.errors import ConfigError

    name = config.home.config_file.name
    for kind, values in chosen.items():
        source = config.sources.get(f"exclude.{kind}", name)
        if values and source != name:
            raise ConfigError(f"exclude.{kind} is set by {source}, which counts before {name}; change it there")
    before, changed = _in_force(config), dict[str, list[str]]()
    for kind, values in chosen.items():
        is_there = set(before[kind])
        changed[kind] = [it for it in dict.fromkeys(values) if (it in is_there) != is_adding]

    def change(section: dict[str, Any]) -> dict[str, Any]:
        for kind, values in changed.items():
            if values:
                section[kind] = _spliced(section.get(kind), before[kind], values, is_adding=is_adding)
        return section

    change_section(config.home, "exclude", change)
    return changed


def _spliced(written: object, before: "Sequence[str]", values: "Sequence[str]", *, is_adding: bool) -> list[str]:
    """Return a list with these values more, or less; what a person wrote there stays as they wrote it."""
    kept = [it for it in written if isinstance(it, str)] if isinstance(written, list) else list(before)
    if is_adding:
        return [*kept, *values]
    gone = set(values)
    # A folder may be written with `~` or a variable: what it comes to is at the same place among those in force.
    comes_to = dict(zip(kept, before, strict=False)) if len(kept) == len(before) else {}
    return [it for it in kept if it not in gone and comes_to.get(it) not in gone]


def _stored(config: "LoadedConfig", chosen: "Chosen") -> dict[str, int]:
    """Count the memories that are stored from what is excluded; what can't be told is left out."""
    from graph_memory.bootstrap import open_services

    if not config.home.database.exists():
        return {}
    with open_services(config) as services:
        return _counted(services, chosen)


def _counted(services: "Services", chosen: "Chosen") -> dict[str, int]:
    from graph_memory.domain.principal import LOCAL_ADMIN
    from ingest.excluded_memories import count_of_folder, count_of_project, count_of_session

    def count(tx: Any) -> dict[str, int]:  # noqa: ANN401 - a transaction
        found = {it: count_of_project(tx, it) for it in chosen["projects"]}
        found |= {it: count_of_session(tx, it) for it in chosen["sessions"]}
        return found | {it: count_of_folder(tx, Path(it)) for it in chosen["folders"]}

    return services.store.read(LOCAL_ADMIN, count)


def _misspelt(config: "LoadedConfig", projects: "Sequence[str]") -> list[str]:
    """Say of projects of which nothing is stored what they are nearly called like; often nothing is said."""
    from difflib import get_close_matches

    from graph_memory.bootstrap import open_services
    from graph_memory.domain.memories import MemoryFilter
    from graph_memory.domain.principal import LOCAL_ADMIN

    if not projects or not config.home.database.exists():
        return []
    with open_services(config) as services:
        everything = MemoryFilter(statuses=None)
        known = services.store.read(LOCAL_ADMIN, lambda tx: tx.memories.count_by("project_id", everything))
    near = {it: get_close_matches(it, known, 1) for it in projects}
    return [f"Nothing is stored of a project {it}; did you mean {found[0]}?" for it, found in near.items() if found]


def _report(verb: str, changed: "Chosen", stored: dict[str, int], *, as_json: bool) -> None:
    from cli import terminal

    if as_json:
        terminal.show_json({verb: {kind: list(values) for kind, values in changed.items()}, "stored": stored})
        return
    for kind, values in changed.items():
        for value in values:
            terminal.show(f"{'No longer' if verb == 'removed' else 'Now'} excluded: {kind.removesuffix('s')} {value}")
    if not any(changed.values()):
        terminal.note("Nothing changed: it was so already.")
    for value, count in stored.items():
        if count:
            terminal.show(f"{value}: {_words(count)}")
    if any(stored.values()):
        terminal.note("To forget what is stored, ask a client for graph_forget, by project or source_session.")


def _words(count: int | None) -> str:
    from cli.terminal import counted

    return f"{counted(count, 'memory', 'memories')} stored from before" if count else ""
