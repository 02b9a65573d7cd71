"""Several workers on one home, in threads and in processes."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.domain.errors import StoreBusy
from graph_memory.domain.ledger import IngestState
from tests.ingest.learners import Learner
from tests.ingest.transcript_files import Transcript

if TYPE_CHECKING:
    from graph_memory.home import Home
    from tests.ingest.places import Place


TEXT = "# Note\n\n#tag in src/app/main.py"
ROOT = Path(__file__).resolve().parents[2]


def test_two_threads_on_one_home_learn_each_document_once(place: Place) -> None:
    for number in range(40):
        place.drop(f"{number}.md", f"Document {number} about #tag and #{'even' if number % 2 else 'odd'}")
        place.drop(f"copy/{number}.md", f"Document {number} about #tag and #{'even' if number % 2 else 'odd'}")
    chat = Transcript(place.ingest.projects_dirs[0] / "-app" / "s.jsonl")
    for number in range(50):
        chat.say(f"Prompt {number}")
    store = SqliteStore(place.home.database)
    errors: list[BaseException] = []

    def work() -> None:
        learner = Learner(store, replace_clock(place))
        try:
            learner.learn()
        except BaseException as error:  # noqa: BLE001 - told to the test
            errors.append(error)
        learner.pipeline.close()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    learner = Learner(store, place)
    learner.learn()
    assert errors == []
    assert len(learner.memories()) == 90
    assert learner.entity("tag", "tag").mention_count == 40
    assert learner.entity("tag", "odd").mention_count == 20
    assert {it.state for it in learner.items()} == {IngestState.COMPLETED}
    assert place.files(place.home.processing) == []
    store.close()


def replace_clock(place: Place) -> Place:
    """Give a worker a clock of its own."""
    return replace(place, clock=replace(place.clock))


WORKER = """
import json, sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.config.settings import Ingest, Settings
from graph_memory.home import Home
from ingest.pipeline import IngestPipeline
from ingest.policies import Policies

home, projects = Home(Path(sys.argv[1])), Path(sys.argv[2])
settings = replace(Settings(), ingest=Ingest(projects_dirs=(projects,), stable_seconds=0.1))
store = SqliteStore(home.database)
pipeline = IngestPipeline(store, home, settings, lambda: datetime.now(UTC), Policies())
print("ready", flush=True)
sys.stdin.readline()
while True:
    scan = pipeline.scan()
    for work in scan.works:
        print("begin", work.name, flush=True)
        pipeline.run(work)
        print("end", work.name, flush=True)
    if not scan.works and scan.look_again_in is None:
        break
pipeline.close()
print("done", flush=True)
"""


def start_worker(home: Home, projects: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORKER, str(home.path), str(projects)]
    worker = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n", worker.stderr and worker.stderr.read()
    return worker


def release(*workers: subprocess.Popen[str]) -> None:
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("\n")
        worker.stdin.flush()


def prepare_home(place: Place, count: int) -> None:
    for number in range(count):
        place.drop(f"{number}.md", f"# Title {number}\n\nDocument {number} about #tag. " + "word " * 300)
    for name in ("s", "t"):
        chat = Transcript(place.ingest.projects_dirs[0] / "-app" / f"{name}.jsonl", session_id=name)
        for number in range(60):
            chat.say(f"Prompt {number} of {name} about #tag")
            chat.answer("Yes")


def check_home(place: Place, count: int) -> None:
    store = SqliteStore(place.home.database)
    learner = Learner(store, place)
    assert len(learner.memories()) == count + 120
    assert learner.entity("tag", "tag").mention_count == count + 120
    assert set(learner.states().values()) == {"completed"}
    assert len(learner.states()) == count
    for folder in (place.home.processing, place.home.pending, place.home.failed):
        assert place.files(folder) == []
    once = learner.everything()
    learner.learn()
    assert learner.everything() == once
    assert store.integrity_problems() == ()
    store.close()


@pytest.mark.spec("inbox.crash")
def test_two_processes_on_one_home_learn_everything_once(place: Place) -> None:
    prepare_home(place, 30)
    SqliteStore(place.home.database).close()
    workers = [start_worker(place.home, place.ingest.projects_dirs[0]) for _ in range(2)]
    release(*workers)
    for worker in workers:
        out, errors = worker.communicate(timeout=100)
        assert worker.returncode == 0, errors
        assert out.endswith("done\n")
    check_home(place, 30)


@pytest.mark.spec("inbox.crash", "transcripts.cursor.resumes")
def test_processes_killed_at_any_moment_lose_and_double_nothing(place: Place) -> None:
    prepare_home(place, 12)
    SqliteStore(place.home.database).close()
    for lines in (1, 2, 5, 9, 13):
        worker = start_worker(place.home, place.ingest.projects_dirs[0])
        release(worker)
        assert worker.stdout is not None
        for _ in range(lines):
            if worker.stdout.readline() in {"done\n", ""}:
                break
        time.sleep(0.003 * lines)  # somewhere in the middle of a piece; wherever that is
        worker.kill()
        worker.communicate(timeout=30)
    last = start_worker(place.home, place.ingest.projects_dirs[0])
    release(last)
    out, errors = last.communicate(timeout=100)
    assert last.returncode == 0, errors
    assert out.endswith("done\n")
    check_home(place, 12)


def test_situation_3_a_store_held_by_another_process_makes_learning_wait(place: Place) -> None:
    import apsw

    store = SqliteStore(place.home.database, deadline=0.2)
    learner = Learner(store, place)
    place.drop("n.md", TEXT)
    learner.pipeline.scan()
    place.clock.wait(1)
    (work,) = learner.pipeline.scan().works
    holder = apsw.Connection(str(place.home.database))
    holder.execute("begin immediate")
    with pytest.raises(StoreBusy):
        learner.pipeline.run(work)
    assert learner.place.files(place.home.pending) == ["n.md"]
    holder.execute("rollback")
    holder.close()
    learner.learn()
    assert learner.titles() == ["Note"]
    store.close()
