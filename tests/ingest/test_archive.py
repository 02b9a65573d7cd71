"""The archive of transcripts: what is kept, what is not, and that it can be read whatever happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.config.settings import Exclude, Limits
from graph_memory.domain.errors import NotFound, Unavailable
from graph_memory.domain.ledger import Tombstone
from graph_memory.domain.principal import LOCAL_ADMIN
from ingest import archiving
from ingest.archive import Archive
from ingest.archived_file import FRAME_BYTES, About, find_about, open_archived, write_beside
from ingest.archiving import TranscriptArchiver
from ingest.transcripts.keys import turn_key
from ingest.transcripts.reading import open_transcript
from ingest.transcripts.redacted_lines import redacted_line
from tests.domain.planted_secrets import SHAPED
from tests.ingest.learners import Learner
from tests.ingest.transcript_files import Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from graph_memory.config.settings import Settings
    from ingest.archiving import ArchiveRun
    from tests.ingest.places import Place

SESSION = "11111111-0000-4000-8000-000000000001"
OTHER = "22222222-0000-4000-8000-000000000002"


class Keeper:
    """A learner with an archive beside it."""

    def __init__(self, learner: Learner, place: Place) -> None:
        self.learner, self.place = learner, place
        self.archive = Archive(place.home.archive)
        self.settings: Settings = learner.settings
        self.rested: list[float] = []

    def keep(self, *, learn: bool = True) -> ArchiveRun:
        """Learn what is new, and run the job."""
        if learn:
            self.learner.learn()
        archiver = TranscriptArchiver(
            self.learner.store, LOCAL_ADMIN, self.place.home, self.settings, pause=self.rested.append
        )
        return archiver.run()

    def text(self, session: str = SESSION) -> bytes:
        return b"".join(self.archive.read(session))


@pytest.fixture
def keeper(place: Place) -> Iterator[Keeper]:
    store = SqliteStore(place.home.database)
    yield Keeper(Learner(store, place), place)
    store.close()


@pytest.fixture
def talk(place: Place) -> Transcript:
    """A session with one turn."""
    transcript = Transcript(place.ingest.projects_dirs[0] / "-nowhere-app" / f"{SESSION}.jsonl")
    transcript.say("which database shall we take?")
    transcript.answer("Postgres, for its transactions.")
    return transcript


def excluding(keeper: Keeper, **exclude: tuple[object, ...]) -> None:
    keeper.settings = replace(keeper.settings, exclude=Exclude(**exclude))  # type: ignore[arg-type]


@pytest.mark.spec("archive.keeps-what-was-read")
def test_what_was_read_is_still_there_when_the_transcript_is_gone(keeper: Keeper, talk: Transcript) -> None:
    written = talk.file.read_bytes()
    run = keeper.keep()
    talk.file.unlink()
    assert keeper.text() == written
    assert keeper.archive.sessions() == [SESSION]
    assert (run.archived, run.sessions, run.bytes_read) == (1, 1, len(written))
    assert run.bytes == sum(it.stat().st_size for it in keeper.archive.files())


def test_it_is_compressed_private_and_named_by_its_id(keeper: Keeper, talk: Transcript) -> None:
    for _ in range(50):
        talk.answer("the same words again and again " * 20)
    keeper.keep()
    (file,) = keeper.archive.files()
    assert file.name.startswith(f"{SESSION}.")
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.stat().st_size * 10 < talk.file.stat().st_size
    assert b"database" not in file.read_bytes()


def test_a_session_whose_id_could_be_no_name_of_a_file_is_kept_all_the_same(keeper: Keeper, place: Place) -> None:
    odd = "../../what did the doctor say?"
    transcript = Transcript(place.ingest.projects_dirs[0] / "p" / "talk.jsonl", session_id=odd)
    transcript.say("hello")
    keeper.keep()
    (file,) = keeper.archive.files()
    assert "doctor" not in file.name
    assert keeper.archive.sessions() == [odd]
    assert keeper.text(odd) == transcript.file.read_bytes()
    assert keeper.archive.erase([odd]) == 1


@pytest.mark.spec("archive.grows")
def test_a_transcript_that_grows_a_little_at_a_time_is_kept_whole_and_small(keeper: Keeper, talk: Transcript) -> None:
    for number in range(12):
        talk.say(f"and what about the point number {number}?")
        talk.answer("it is much like the one before it " * 30)
        assert keeper.keep().archived == 1
    assert keeper.keep().archived == 0
    assert keeper.text() == talk.file.read_bytes()
    (grown,) = keeper.archive.files()
    size = grown.stat().st_size
    keeper.archive.erase([SESSION])
    keeper.keep()
    (at_once,) = keeper.archive.files()
    assert abs(at_once.stat().st_size - size) < 200


@given(st.lists(st.binary(min_size=0, max_size=FRAME_BYTES // 2), max_size=8), st.lists(st.booleans(), max_size=8))
def test_any_pieces_added_in_any_steps_are_read_back_as_one(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], breaks: list[bool]
) -> None:
    path = tmp_path_factory.mktemp("archive") / "a.jsonl.zst"
    steps: list[list[bytes]] = [[]]
    for number, piece in enumerate(pieces):
        steps[-1].append(piece)
        if number < len(breaks) and breaks[number]:
            steps.append([])
    for step in steps:
        write_beside(path, find_about(path), lambda: About("s"), step, modified_ns=10**9).replace(path)
    with open_archived(path) as lines:
        assert lines.read() == b"".join(pieces)
    about = find_about(path)
    assert about is not None
    assert about.size == sum(map(len, pieces))
    assert path.stat().st_mtime == 1


def test_what_was_not_read_yet_is_not_kept_yet(keeper: Keeper, talk: Transcript) -> None:
    keeper.keep()
    kept = keeper.text()
    talk.say("this is news")
    keeper.keep(learn=False)
    assert keeper.text() == kept


@pytest.mark.spec("archive.redacted")
def test_secrets_are_taken_out_by_the_same_rules(keeper: Keeper, talk: Transcript) -> None:
    for secret in SHAPED.values():
        talk.say(f"use this: {secret}")
        talk.answer(f"nested {orjson.dumps({'token': secret}).decode()}")
    run = keeper.keep()
    text = keeper.text()
    for line in text.splitlines():
        orjson.loads(line)
    for secret in SHAPED.values():
        body = secret.splitlines()[1] if "\n" in secret else secret
        assert body.encode() not in text
    assert run.redacted >= len(SHAPED)


@pytest.mark.parametrize("ascii_only", [True, False])
def test_secrets_in_words_written_as_numbers_are_found(ascii_only: bool) -> None:
    text = "la contraseña es hunter2secret9"
    line = (
        b'{"text":"' + text.encode("ascii", "backslashreplace").replace(b"\\xf1", b"\\u00f1") + b'"}\n'
        if ascii_only
        else orjson.dumps({"text": text}, option=orjson.OPT_APPEND_NEWLINE)
    )
    redacted, count = redacted_line(line)
    assert b"hunter2" not in redacted
    assert redacted.endswith(b"\n")
    assert count == 1


def test_a_line_without_secrets_stays_byte_for_byte() -> None:
    line = b'{"a" : 1.0, "big":123456789012345678901234567890, "text":"caf\\u00e9 \\\\n"}\n'
    assert redacted_line(line) == (line, 0)
    assert redacted_line(b"no json \\u00e9 at all") == (b"no json \\u00e9 at all", 0)


@pytest.mark.spec("archive.nothing-excluded")
def test_an_excluded_session_or_folder_is_not_kept(keeper: Keeper, talk: Transcript, place: Place) -> None:
    keeper.learner.learn()
    for exclude in ({"sessions": (SESSION,)}, {"folders": (place.home.path.parents[0].__class__("/nowhere"),)}):
        excluding(keeper, **exclude)
        run = keeper.keep(learn=False)
        assert (run.archived, run.withheld) == (0, 1)
        assert keeper.archive.files() == []


@pytest.mark.spec("archive.nothing-excluded")
def test_an_excluded_project_is_not_kept(keeper: Keeper, talk: Transcript) -> None:
    keeper.learner.learn()
    excluding(keeper, projects=("app",))
    assert keeper.keep(learn=False).withheld == 1
    assert keeper.archive.files() == []


def test_our_own_sessions_are_not_kept(keeper: Keeper, place: Place) -> None:
    transcript = Transcript(place.ingest.projects_dirs[0] / "p" / f"{SESSION}.jsonl", cwd=str(place.home.path))
    transcript.say("what does the memory say?")
    assert keeper.keep().archived == 0


def test_a_session_that_goes_into_an_excluded_folder_is_kept_up_to_there(keeper: Keeper, talk: Transcript) -> None:
    before = talk.file.read_bytes()
    talk.cwd = "/nowhere/private"
    talk.say("the secret garden")
    talk.cwd = "/nowhere/app"
    talk.say("back again; in short, we were in the secret garden")
    keeper.learner.learn()
    excluding(keeper, folders=(talk.file.__class__("/nowhere/private"),))
    for _ in range(2):
        keeper.keep(learn=False)
        assert keeper.text() == before


@pytest.mark.spec("archive.nothing-forgotten")
def test_a_forgotten_session_is_not_kept_again(keeper: Keeper, talk: Transcript) -> None:
    keeper.keep()
    forget(keeper, first_turn(talk))
    assert keeper.archive.erase([SESSION]) == 1
    assert keeper.archive.sessions() == []
    assert keeper.keep().withheld == 1
    assert list(keeper.place.home.archive.glob("*.zst")) == []
    with pytest.raises(NotFound):
        list(keeper.archive.read(SESSION))


@pytest.mark.spec("archive.nothing-forgotten")
def test_a_copy_that_repeats_what_was_forgotten_goes_with_the_next_run(
    keeper: Keeper, talk: Transcript, place: Place
) -> None:
    fork = talk.file.with_name(f"{OTHER}.jsonl")
    fork.write_bytes(talk.file.read_bytes().replace(SESSION.encode(), OTHER.encode()))
    keeper.keep()
    assert keeper.archive.sessions() == [SESSION, OTHER]
    forget(keeper, first_turn(talk))
    run = keeper.keep()
    assert run.erased == 2
    assert keeper.archive.sessions() == []


def test_erasing_a_session_takes_every_file_that_repeats_its_words(keeper: Keeper, talk: Transcript) -> None:
    resumed = Transcript(talk.file.with_name(f"{OTHER}.jsonl"), session_id=OTHER)
    resumed.file.write_bytes(talk.file.read_bytes())
    resumed.say("let us go on")
    keeper.keep()
    assert keeper.archive.erase([SESSION]) == 2


def test_erasing_others_leaves_a_session(keeper: Keeper, talk: Transcript) -> None:
    keeper.keep()
    assert keeper.archive.erase([OTHER]) == 0
    assert keeper.archive.erase_turns([turn_key("something else", None)]) == 0
    assert keeper.archive.sessions() == [SESSION]


def test_what_is_forgotten_while_it_is_compressed_is_not_put_there(keeper: Keeper, talk: Transcript) -> None:
    """The pause comes in the middle of a file: what was being written is thrown away."""
    keeper.learner.learn()
    for _ in range(3):
        talk.answer("x" * 900_000)
    keeper.learner.learn()

    def forgets(_seconds: float) -> None:
        forget(keeper, first_turn(talk))
        keeper.archive.erase([SESSION])

    TranscriptArchiver(keeper.learner.store, LOCAL_ADMIN, keeper.place.home, keeper.settings, pause=forgets).run()
    assert [it.name for it in keeper.place.home.archive.iterdir()] == [".lock"]


@pytest.mark.spec("archive.size-cap", "config.ceiling.archive")
def test_the_oldest_sessions_go_first_and_do_not_come_back(keeper: Keeper, place: Place) -> None:
    folder = place.ingest.projects_dirs[0] / "p"
    for number in range(4):
        transcript = Transcript(folder / f"s{number}.jsonl", session_id=f"s{number}")
        transcript.say(f"prompt {number} " + os.urandom(300_000).hex())
        os.utime(transcript.file, (10**9 * 1.7 + number, 10**9 * 1.7 + number))
    keeper.learner.pipeline.set_since(datetime(2000, 1, 1, tzinfo=UTC))
    assert Limits().archive_mb == 2_048
    keeper.settings = replace(keeper.settings, limits=replace(Limits(), archive_mb=1))
    run = keeper.keep()
    assert keeper.archive.sessions() == ["s1", "s2", "s3"]
    assert (run.archived, run.evicted) == (4, 1)
    assert run.bytes <= 1_000_000
    again = keeper.keep()
    assert (again.archived, again.evicted, again.too_old) == (0, 0, 1)


def test_it_rests_as_the_share_of_a_core_wants(keeper: Keeper, talk: Transcript) -> None:
    for _ in range(3):
        talk.answer("x" * 900_000)
    keeper.keep()
    assert keeper.rested
    assert all(it > 0 for it in keeper.rested)


def test_a_transcript_replaced_by_another_keeps_both(keeper: Keeper, talk: Transcript) -> None:
    keeper.keep()
    first = keeper.text()
    talk.file.unlink()
    talk.say("a whole new beginning")
    keeper.keep()
    assert keeper.text() == talk.file.read_bytes()
    assert len(keeper.archive.files()) == 2
    (aside,) = [it for it in keeper.archive.files() if it != keeper.archive.find(SESSION)]
    with open_archived(aside) as lines:
        assert lines.read() == first


def test_a_damaged_file_is_made_again_from_the_transcript(keeper: Keeper, talk: Transcript) -> None:
    keeper.keep()
    (file,) = keeper.archive.files()
    whole = file.read_bytes()
    for broken in (whole[:-1], whole[:10] + bytes([whole[10] ^ 0xFF]) + whole[11:], b""):
        file.write_bytes(broken)
        talk.answer("more")
        keeper.keep()
        keeper.keep()
        assert keeper.text() == talk.file.read_bytes()


def test_what_dead_writers_left_is_removed(keeper: Keeper, talk: Transcript) -> None:
    left = keeper.place.home.archive / f".{SESSION}.x.jsonl.zst.0000.tmp"
    left.write_bytes(b"half")
    keeper.keep()
    assert not left.exists()


def test_on_a_full_disk_the_job_says_so_and_what_is_archived_stays(
    keeper: Keeper, talk: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper.keep()
    before = keeper.text()
    talk.say("more")
    keeper.learner.learn()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("ingest.archived_file.os.fsync", full)
        with pytest.raises(Unavailable, match="No space left"):
            keeper.keep(learn=False)
    assert keeper.text() == before
    assert len(list(keeper.place.home.archive.iterdir())) == 2
    keeper.keep()
    assert keeper.text() == talk.file.read_bytes()


def test_a_transcript_that_can_not_be_read_keeps_no_other_from_being_archived(
    keeper: Keeper, talk: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Transcript(talk.file.with_name(f"{OTHER}.jsonl"), session_id=OTHER)
    other.say("hello")
    keeper.learner.learn()
    opened = open_transcript

    def refusing(path: Path) -> BinaryIO:
        if path.name.startswith(SESSION):
            raise PermissionError(13, "Permission denied")
        return opened(path)

    monkeypatch.setattr(archiving, "open_transcript", refusing)
    assert keeper.keep(learn=False).failed == 1
    assert keeper.archive.sessions() == [OTHER]


def test_a_transcript_in_utf_16_is_kept_as_lines_that_every_reader_knows(keeper: Keeper, talk: Transcript) -> None:
    text = talk.file.read_text(encoding="utf-8")
    talk.file.write_bytes(text.encode("utf-16"))
    keeper.keep()
    assert keeper.text().decode("utf-8-sig") == text


_KILLED = """
import sys
from graph_memory.bootstrap import open_services
from graph_memory.config import load_config
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.home import Home
from ingest.archiving import TranscriptArchiver
import os
with open_services(load_config(os.environ)) as services:
    print("ready", flush=True)
    TranscriptArchiver(services.store, LOCAL_ADMIN, services.home, services.settings, pause=lambda _: None).run()
    print("done", flush=True)
"""


@pytest.mark.spec("archive.crash")
def test_killed_at_any_moment_it_leaves_an_archive_that_reads(keeper: Keeper, place: Place) -> None:
    folder = place.ingest.projects_dirs[0] / "p"
    transcripts = [Transcript(folder / f"s{it}.jsonl", session_id=f"s{it}") for it in range(12)]
    keeper.learner.pipeline.set_since(datetime(2000, 1, 1, tzinfo=UTC))
    environment = {**os.environ, "GRAPH_MEMORY_HOME": str(place.home.path)}
    environment["CLAUDE_PROJECTS_DIR"] = str(place.ingest.projects_dirs[0])
    killed = 0
    for moment in range(6):
        for transcript in transcripts:
            transcript.say(f"round {moment}")
            transcript.answer(os.urandom(150_000).hex())
        keeper.learner.learn()
        with subprocess.Popen(
            [sys.executable, "-c", _KILLED], env=environment, stdout=subprocess.PIPE, start_new_session=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(0.01 * moment)  # where the kill falls is what is tried, not waited for
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)
        killed += process.returncode == -signal.SIGKILL
        for path, about in Archive(place.home.archive).abouts().items():
            kept = b"".join(keeper.archive.read(about.session))
            assert (folder / f"{about.session}.jsonl").read_bytes().startswith(kept)
            assert len(kept) == about.offset == about.size, path
    assert killed
    run = keeper.keep()
    assert run.failed == run.waiting == 0
    for transcript in transcripts:
        assert keeper.text(transcript.session_id) == transcript.file.read_bytes()
    assert not [it for it in place.home.archive.iterdir() if it.suffix == ".tmp"]


def first_turn(transcript: Transcript) -> str:
    record = orjson.loads(transcript.file.read_bytes().splitlines()[0])
    return turn_key(record["message"]["content"], datetime.fromisoformat(record["timestamp"]))


def forget(keeper: Keeper, key: str) -> None:
    tombstone = Tombstone(key, "asked", keeper.place.clock())
    keeper.learner.store.write(LOCAL_ADMIN, lambda tx: tx.ledger.put_tombstones([tombstone]))
