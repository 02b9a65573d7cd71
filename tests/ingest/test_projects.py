"""Which project a working directory belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graph_memory.domain.names import short_hash
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.principal import LOCAL_ADMIN
from ingest.projects import ProjectFolder, has_no_memory, project_folder
from ingest.sources import find_project_id, put_project

if TYPE_CHECKING:
    from pathlib import Path

    from graph_memory.ports.store import Store
    from tests.ingest.places import Place


@pytest.mark.spec("transcripts.project.git-root")
def test_the_repository_around_a_folder_is_its_project(tmp_path: Path) -> None:
    (tmp_path / "app" / ".git").mkdir(parents=True)
    inner = tmp_path / "app" / "src" / "deep"
    inner.mkdir(parents=True)
    assert project_folder(str(inner)) == ProjectFolder(str(tmp_path / "app"), "app")


@pytest.mark.spec("transcripts.project.worktrees")
@pytest.mark.parametrize("relative", [False, True])
def test_a_worktree_counts_as_its_repository(tmp_path: Path, *, relative: bool) -> None:
    (tmp_path / "app" / ".git" / "worktrees" / "fix").mkdir(parents=True)
    worktree = tmp_path / "elsewhere" / "fix"
    (worktree / "src").mkdir(parents=True)
    target = "../../app/.git/worktrees/fix" if relative else tmp_path / "app" / ".git" / "worktrees" / "fix"
    (worktree / ".git").write_text(f"gitdir: {target}\n")
    assert project_folder(str(worktree / "src")).root == str(tmp_path / "app")


def test_a_worktree_of_a_bare_repository_has_its_name(tmp_path: Path) -> None:
    worktree = tmp_path / "main"
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {tmp_path}/app.git/worktrees/main\n")
    assert project_folder(str(worktree)).name == "app"


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    module = tmp_path / "app" / "vendor" / "lib"
    module.mkdir(parents=True)
    (tmp_path / "app" / ".git").mkdir()
    (module / ".git").write_text("gitdir: ../../.git/modules/lib\n")
    assert project_folder(str(module)).name == "lib"


@pytest.mark.spec("transcripts.project.no-git")
@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/nowhere/at/all/app", "app"),
        ("/nowhere/app/", "app"),
        ("/nowhere/app/../lib", "lib"),
        ("C:\\Users\\me\\app", "app"),
        ("/", "/"),
        ("/nowhere/app/.claude/worktrees/fix-1/src", "app"),
        ("/nowhere/" + "x" * 400, "x" * 400),
        ("relative", "relative"),
    ],
)
def test_a_folder_without_a_repository_is_the_project_itself(cwd: str, name: str) -> None:
    assert project_folder(cwd).name == name


def test_a_folder_with_half_a_git_file_is_its_own(tmp_path: Path) -> None:
    for text in ("", "gitdir:", "nonsense", "gitdir: \n"):
        (tmp_path / ".git").write_text(text)
        assert project_folder(str(tmp_path)).root == str(tmp_path)


def test_a_marked_folder_keeps_all_below_it_out(tmp_path: Path) -> None:
    inner = tmp_path / "app" / "src"
    inner.mkdir(parents=True)
    assert not has_no_memory(str(inner))
    (tmp_path / "app" / ".no-memory").touch()
    assert has_no_memory(str(inner))
    assert has_no_memory(str(tmp_path / "app" / "gone"))
    assert not has_no_memory("app")


@pytest.mark.spec("transcripts.project.clash")
def test_two_roots_of_one_name_are_two_projects(store: Store, place: Place) -> None:
    def put(root: str) -> str:
        folder = ProjectFolder(root, "app")
        planned = store.read(LOCAL_ADMIN, lambda tx: find_project_id(tx, folder))
        ref = store.write(LOCAL_ADMIN, lambda tx: put_project(tx, folder, place.clock(), GraphPolicy()))
        assert ref.project_id == planned
        return ref.project_id

    ids = [put("/a/app"), put("/b/app"), put("/a/app"), put("/c/app"), put("/b/app")]
    assert ids == ["app", f"app-{short_hash('/b/app')}", "app", f"app-{short_hash('/c/app')}", ids[1]]
