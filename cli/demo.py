"""`graph-memory demo`: what this is good for, in a home that is thrown away."""

import time
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from graph_memory.bootstrap import Services
    from graph_memory.config import LoadedConfig

_LIMIT = 2
_LONGEST = 30.0


def demo(context: typer.Context) -> None:  # noqa: ARG001 - it works on no home of anybody's
    """Show what the memory does, on samples. Nothing of yours is read or changed, and nothing is left behind."""
    from tempfile import TemporaryDirectory

    from cli.terminal import show
    from graph_memory.bootstrap import open_services

    began = time.monotonic()
    with TemporaryDirectory(prefix="graph-memory-demo-") as folder:
        config = _config(folder)
        show(f"A home of its own, for this demo alone: {folder}", "dim")
        with open_services(config) as services:
            _learn(services, config)
            _ask(services)
    show(f"That took {time.monotonic() - began:.1f} s, and the folder is gone. Yours is next: `graph-memory run`.")


def _config(folder: str) -> "LoadedConfig":
    """Load settings of a home in `folder`, with nothing of the user's environment."""
    import os
    from pathlib import Path

    from graph_memory.config import load_config

    environ = {
        "HOME": os.environ.get("HOME", folder),
        "CLAUDE_PROJECTS_DIR": str(Path(folder) / "projects"),
        "GRAPH_MEMORY_INGEST__STABLE_SECONDS": "0.1",
    }
    return load_config(environ, Path(folder) / "home")


def _learn(services: "Services", config: "LoadedConfig") -> None:
    """Drop the samples where the daemon would find them, and learn them as it does."""
    from cli.samples import NOTES, TURNS, write_conversation, write_notes
    from cli.terminal import counted, show
    from daemon.learning import build_pipeline

    write_notes(services.home.pending)
    write_conversation(config.settings.ingest.projects_dirs[0], services.clock())
    show(f"Learning {counted(len(NOTES), 'note')} and a conversation of {counted(len(TURNS), 'turn')}:", "bold")
    pipeline = build_pipeline(services)
    until = time.monotonic() + _LONGEST
    try:
        while time.monotonic() < until:
            scan = pipeline.scan()
            for work in scan.works:
                done = pipeline.run(work)
                what = "turn" if done.transcript else "note"
                show(f"  {_named(work.file)}: {counted(done.items, what)} learned")
            if not scan.works and scan.look_again_in is None:
                break
            time.sleep(scan.look_again_in or 0.0)
        while not pipeline.link_late_mentions().is_done:
            pass
    finally:
        pipeline.close()


def _named(file: "Path") -> str:
    return "conversation" if file.suffix == ".jsonl" else file.name


def _ask(services: "Services") -> None:
    """Ask the questions, and look around one entity."""
    from cli.samples import QUESTIONS
    from cli.search import show_found
    from cli.terminal import show, show_row
    from graph_memory.domain.memories import MemoryFilter
    from graph_memory.domain.principal import LOCAL_ADMIN
    from graph_memory.services.recall import GraphQuestion

    for question in QUESTIONS:
        show()
        show(f"$ graph-memory search {question}", "bold")
        for found in services.memory_search.search(LOCAL_ADMIN, question, MemoryFilter(), limit=_LIMIT).found:
            show_found(found)
    around = GraphQuestion(("Tidewater",), max_hops=1, limit=8)
    answer = services.recall.query(LOCAL_ADMIN, around)
    names = {it.id: it.name for it in answer.nodes}
    show()
    show("What stands around Tidewater in the graph:", "bold")
    for weighed in answer.relations:
        relation = weighed.relation
        source, target = names.get(relation.source_id, ""), names.get(relation.target_id, "")
        if source and target:
            show_row(f"{relation.weight:.2f}", f"{source} → {relation.type} → {target}")
    show()
