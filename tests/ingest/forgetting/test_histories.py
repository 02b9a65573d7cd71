"""Whatever was learned, a backup that is rewritten equals one made afterwards, and forgetting order does not matter."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_memory.adapters.reference import ReferenceStore
from graph_memory.config.settings import Ingest
from graph_memory.domain.backups import EntityEvidence, RelationEvidence
from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.entities import Provenance, SourceType
from graph_memory.domain.errors import Ambiguous, Conflict
from graph_memory.domain.forgetting import Reach
from graph_memory.domain.ledger import Tombstone
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.domain.statements import Batch, EntityStatement, RelationStatement
from graph_memory.home import Home
from tests.ingest.forgetting.person import Person
from tests.ingest.places import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graph_memory.domain.backups import BackupRow

SESSIONS, NAMES, PROJECTS = ("s1", "s2", "s3"), ("Ada", "Bo", "Acme", "Loom"), ("_global", "p", "q")
sessions, names = st.sampled_from(SESSIONS), st.sampled_from(NAMES)
sources = st.builds(
    Provenance,
    st.sampled_from([SourceType.CONVERSATION, SourceType.MENTION]),
    st.none() | sessions,
    st.none(),
    st.none() | st.sampled_from(["f1", "f2"]),
)
stated = st.fixed_dictionaries({}, optional={"a": st.integers(0, 2), "b": st.integers(0, 2)})
relations = st.builds(
    RelationStatement,
    st.just("Ada") | names,
    st.sampled_from(["USES", "WORKS_AT", "WORKS_AT"]),
    st.sampled_from(["Acme", "Loom"]),
    st.none() | st.floats(0.1, 1),
    stated,
)
batches = st.builds(
    lambda properties, told, source: Batch(
        tuple(EntityStatement(it, "Concept", properties) for it in NAMES), tuple(told), source
    ),
    stated,
    st.lists(relations, max_size=2, unique_by=lambda it: (it.source, it.type, it.target)),
    sources,
)
few_batches = st.builds(
    lambda name, properties, source: Batch((EntityStatement(name, "Concept", properties),), (), source),
    names,
    stated,
    sources,
)
notes = st.builds(
    MemoryDraft,
    title=st.integers(0, 9).map(str),
    content=st.sampled_from(["plain", "see [[Ada]]", "see [[Bo]] and [[Acme]]"]),
    category=st.just("note"),
    session_id=st.none() | sessions,
    project_id=st.sampled_from(PROJECTS),
)
histories = st.lists(batches | few_batches | notes, min_size=1, max_size=8)
reaches = st.one_of(
    st.builds(Reach, source_session=sessions),
    st.builds(Reach, source_file=st.sampled_from(["f1", "f2"])),
    st.builds(Reach, project=st.sampled_from(PROJECTS)),
    st.builds(Reach, memory_id=st.integers(1, 4)),
    st.builds(Reach, entity_id=st.sampled_from(["ada", "bo", "acme"])),
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


def a_person(folder: Path, number: int = 0) -> Person:
    home = Home(folder / f"home-{number}")
    home.ensure()
    for backup in home.backups.iterdir():
        backup.unlink()
    return Person(ReferenceStore(), Place(home, Ingest(projects_dirs=(folder,))))


def live(person: Person, history: list[Any]) -> None:
    for event in history:
        person.place.clock.wait(3_600)
        try:
            if isinstance(event, Batch):
                person.relate.relate(LOCAL_ADMIN, event)
            else:
                person.write.add(LOCAL_ADMIN, event)
        except (Conflict, Ambiguous):
            continue


def lines_of(file: str) -> list[bytes]:
    """Return the rows of a backup, in no order, without tombstones and links that wait: only a store finds those."""
    rows = Path(file).read_bytes().splitlines()[1:-1]
    return sorted(it for it in rows if not it.startswith((b'{"kind":"tombstone"', b'{"kind":"open_link"')))


def lines_now(person: Person) -> list[bytes]:
    return lines_of(person.backup.export(LOCAL_ADMIN, label="now").file.path)


@pytest.mark.spec("graph_forget.everywhere", "graph_forget.recomputes")
@given(histories, st.lists(reaches, min_size=1, max_size=2))
@settings(max_examples=150)
def test_a_rewritten_backup_is_what_is_left(folder: Path, history: list[Any], forgotten: list[Reach]) -> None:
    person = a_person(folder)
    live(person, history)
    backup = person.backup.export(LOCAL_ADMIN).file.path
    for reach in forgotten:
        person.forgets(**{reach.kind: getattr(reach, reach.kind)})
    assert lines_of(backup) == lines_now(person)


@pytest.mark.spec("forget.restored")
@given(histories, reaches)
@settings(max_examples=100)
def test_an_import_of_before_adds_nothing_that_went(folder: Path, history: list[Any], reach: Reach) -> None:
    person = a_person(folder)
    live(person, history)
    backup = Path(person.backup.export(LOCAL_ADMIN).file.path)
    elsewhere = folder / "elsewhere.jsonl"
    elsewhere.write_bytes(backup.read_bytes())
    person.forgets(**{reach.kind: getattr(reach, reach.kind)})
    left = lines_now(person)
    person.place.clock.wait(1)
    person.restore.import_file(LOCAL_ADMIN, str(elsewhere), dry_run=False)
    assert lines_now(person) == left


@pytest.mark.spec("graph_forget.recomputes")
@given(histories, sessions)
@settings(max_examples=100)
def test_nothing_of_a_session_is_left_and_nothing_of_others_is_missing(
    folder: Path, history: list[Any], session: str
) -> None:
    person, other = a_person(folder), a_person(folder, 1)
    live(person, history)
    person.forgets(source_session=session)
    live(other, history)
    gone = {it.id for it in other.learner.memories(every=True) if it.session_id == session}
    assert [it.id for it in person.learner.memories(every=True)] == [
        it.id for it in other.learner.memories(every=True) if it.id not in gone
    ]

    def is_left(row: BackupRow) -> bool:
        if not isinstance(row, EntityEvidence | RelationEvidence):
            return False
        source = row.evidence.provenance
        return source.session != session and source.memory_id not in gone

    expected = [it for it in other.rows() if is_left(it)]
    found = [it for it in person.rows() if isinstance(it, EntityEvidence | RelationEvidence)]
    assert found == expected
    assert not [it for it in person.rows() if not isinstance(it, Tombstone) and repr(session) in repr(it)]
