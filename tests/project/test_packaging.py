"""The files that build, lock and check the project agree with each other."""

import configparser
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ["requirements.lock", "requirements-dev.lock"]


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def packages_here() -> set[str]:
    return {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "bench"}


def name_of(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match
    return re.sub(r"[-_.]+", "-", match[0]).lower()


def locked(lock: str) -> dict[str, str]:
    """Return each locked entry with all that belongs to it, by name."""
    text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    return {name_of(line): line for line in text.splitlines() if line and not line.lstrip().startswith("#")}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_entry_is_pinned_and_hashed(lock: str) -> None:
    entries = locked(lock)
    assert entries
    assert [line for line in entries.values() if "==" not in line or "--hash=sha256:" not in line] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_index(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert not re.search(r"://|^\s*-(i|f|-index|-extra-index|-find)", text, re.MULTILINE)


def test_the_runtime_lock_has_every_dependency_and_no_engine(project: dict[str, Any]) -> None:
    runtime = set(locked("requirements.lock"))
    assert {name_of(requirement) for requirement in project["project"]["dependencies"]} <= runtime
    engines = {name_of(part) for parts in project["project"]["optional-dependencies"].values() for part in parts}
    assert engines & runtime == set()


def test_the_development_lock_has_the_runtime_one_and_the_groups_that_make_uses(project: dict[str, Any]) -> None:
    development = locked("requirements-dev.lock")
    groups = project["dependency-groups"]
    extras = [
        part for name in ("neo4j", "metrics", "formats") for part in project["project"]["optional-dependencies"][name]
    ]
    wanted = [*groups["build"], *groups["test"], *groups["dev"], *extras]
    assert {name_of(part) for part in wanted} <= set(development)
    versions = {line.split(" ")[0] for line in development.values()}
    assert {line.split(" ")[0] for line in locked("requirements.lock").values()} <= versions


def test_every_package_is_built_typed_and_held_to_the_layers(project: dict[str, Any]) -> None:
    layers = configparser.ConfigParser()
    layers.read(ROOT / ".importlinter", encoding="utf-8")
    packages = packages_here()
    assert set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) == packages
    assert set(project["tool"]["mypy"]["files"]) == packages | {"tests", "bench"}
    assert set(layers["importlinter"]["root_packages"].split()) == packages
    assert {name for name in packages if not (ROOT / name / "py.typed").exists()} == set()


def test_every_folder_of_code_is_a_package() -> None:
    folders = {path.parent for name in (*packages_here(), "tests") for path in (ROOT / name).rglob("*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []
