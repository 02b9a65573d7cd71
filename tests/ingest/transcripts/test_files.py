from __future__ import annotations

import os
from pathlib import Path

import pytest

from ingest.transcripts.files import (
    FileKind,
    find_session_files,
    list_transcripts,
)
from tests.ingest.transcripts.script import Script

SESSION = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    root = tmp_path / "projects"
    project = root / "-home-u-a-b"
    main = Script(session_id=SESSION)
    main.human("first")
    main.write(project / f"{SESSION}.jsonl")
    main.write(project / "agent-41b9470d.jsonl")
    nested = project / SESSION / "subagents"
    main.write(nested / "agent-a1.jsonl")
    main.write(nested / "agent-acompact-9f.jsonl")
    main.write(nested / "workflows" / "wf1" / "journal.jsonl")
    (nested / "agent-a1.meta.json").write_text('{"agentType":"general-purpose","description":"Look","x":1}')
    (project / SESSION / "tool-results").mkdir()
    (project / SESSION / "tool-results" / "t.jsonl").write_text("{}")
    (project / "notes.txt").write_text("no transcript")
    Script(session_id="orphaned").write(root / "-other" / "orphaned" / "subagents" / "agent-b2.jsonl")
    return root


def test_every_transcript_is_found_with_what_it_is(projects: Path) -> None:
    listing = list_transcripts([projects])
    found = {file.path.relative_to(projects).as_posix(): (file.kind, file.session_id) for file in listing.files}
    nested = f"-home-u-a-b/{SESSION}/subagents"
    assert found == {
        f"-home-u-a-b/{SESSION}.jsonl": (FileKind.SESSION, SESSION),
        "-home-u-a-b/agent-41b9470d.jsonl": (FileKind.AGENT, None),
        f"{nested}/agent-a1.jsonl": (FileKind.AGENT, SESSION),
        f"{nested}/agent-acompact-9f.jsonl": (FileKind.COMPACTION, SESSION),
        f"{nested}/workflows/wf1/journal.jsonl": (FileKind.JOURNAL, SESSION),
        "-other/orphaned/subagents/agent-b2.jsonl": (FileKind.AGENT, "orphaned"),
    }
    assert listing.unreadable == ()
    assert all(file.size == file.path.stat().st_size and file.modified_ns > 0 for file in listing.files)


def test_several_folders_are_searched_and_none_twice(projects: Path, tmp_path: Path) -> None:
    second = tmp_path / "second"
    Script().write(second / "-p" / "s.jsonl")
    both = list_transcripts([projects, second, projects]).files
    assert len(both) == len(list_transcripts([projects]).files) + 1
    assert [file.path for file in both] == sorted(file.path for file in both)


def test_a_projects_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    listing = list_transcripts([tmp_path / "gone"])
    assert listing.files == ()
    assert len(listing.unreadable) == 1
    assert "gone" in listing.unreadable[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser can read every folder")
def test_a_folder_that_cannot_be_read_is_reported_and_the_others_are_found(projects: Path) -> None:
    locked = projects / "-other"
    locked.chmod(0)
    try:
        listing = list_transcripts([projects])
    finally:
        locked.chmod(0o700)
    assert len(listing.files) == 5
    assert "-other" in listing.unreadable[0]


def test_links_that_lead_nowhere_are_left_out(projects: Path) -> None:
    (projects / "-home-u-a-b" / "dangling.jsonl").symlink_to(projects / "gone.jsonl")
    (projects / "-dangling").symlink_to(projects / "gone")
    assert len(list_transcripts([projects]).files) == 6


def test_a_sessions_files_are_its_own_and_those_of_its_subagents(projects: Path) -> None:
    files = find_session_files([projects], SESSION)
    assert files[0].kind is FileKind.SESSION
    assert sorted(file.path.name for file in files[1:]) == [
        "agent-41b9470d.jsonl",
        "agent-a1.jsonl",
        "agent-acompact-9f.jsonl",
        "journal.jsonl",
    ]


def test_a_session_whose_own_file_is_gone_still_has_those_of_its_subagents(projects: Path) -> None:
    assert [file.path.name for file in find_session_files([projects], "orphaned")] == ["agent-b2.jsonl"]


def test_of_a_copied_session_the_latest_comes_first(projects: Path) -> None:
    copy = Script(session_id=SESSION).write(projects / "-copy" / f"{SESSION}.jsonl")
    os.utime(copy, ns=(0, 2**62))
    assert find_session_files([projects], SESSION)[0].path == copy


@pytest.mark.spec("graph_read_transcript.session-id-is-data")
@pytest.mark.parametrize("session_id", ["*", "../secret", "..", "", "/etc/passwd", f"{SESSION}.jsonl", f"./{SESSION}"])
def test_a_session_id_is_never_a_path_or_a_pattern(projects: Path, session_id: str) -> None:
    (projects.parent / "secret.jsonl").write_text("{}")
    assert find_session_files([projects], session_id) == ()
