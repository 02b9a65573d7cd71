"""The installed command, run as people run it, on a home of the test's own."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.domain.statements import Batch, EntityStatement, RelationStatement

COMMAND = Path(sys.executable).with_name("graph-memory")
BOUND = 60.0


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - JSON
        """What it wrote to stdout, all of it."""
        return orjson.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the command with these words in an empty folder."""

    def run(*words: str | Path, answer: str | None = None, **environ: str) -> Ran:
        done = subprocess.run(
            [COMMAND, *words],
            **({"stdin": subprocess.DEVNULL} if answer is None else {"input": answer}),
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=BOUND,
            cwd=tmp_path,
            env={**os.environ, **environ},
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def home(own_environment: Path) -> Path:
    """The home folder that commands work on; not made yet."""
    return own_environment / "graph-memory"


@pytest.fixture
def used_home(home: Path) -> Path:
    """A home in which something was learned."""
    with open_services(load_config(os.environ)) as services:
        services.memory_write.add(
            LOCAL_ADMIN,
            MemoryDraft(title="Postgres it is", content="We chose Postgres for its transactions.", category="decision"),
        )
        services.relate.relate(
            LOCAL_ADMIN,
            Batch(
                (EntityStatement("Ada", "Person"), EntityStatement("Postgres", "Object")),
                (RelationStatement("Ada", "USES_TECH", "Postgres"),),
            ),
        )
    return home
