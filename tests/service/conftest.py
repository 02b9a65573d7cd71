"""Installations to describe, and managers real and acted."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from daemon.service.installation import Installation, installation_of
from graph_memory.config import load_config
from graph_memory.home import Home
from tests.service.user_managers import NoManager, UserManager, private_manager, running_manager


@pytest.fixture
def installation(own_environment: Path) -> Installation:
    return installation_of(load_config(os.environ), os.environ)


@pytest.fixture
def home() -> Home:
    return load_config(os.environ).home


@pytest.fixture(scope="module")
def started_manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserManager]:
    found = running_manager()
    if found is not None:
        yield found
        return
    try:
        with private_manager(tmp_path_factory.mktemp("manager")) as manager:
            yield manager
    except NoManager as error:
        pytest.skip(f"no systemd of a user's: {error}")


@pytest.fixture
def manager(started_manager: UserManager, monkeypatch: pytest.MonkeyPatch) -> UserManager:
    """A real manager, which the test's own commands reach as well."""
    for name, text in started_manager.environ.items():
        monkeypatch.setenv(name, text)
    return started_manager


Acted = Callable[[str, str], Path]


@pytest.fixture
def acted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Acted:
    """Put a program on PATH that notes its words and answers by a shell script; nothing else is on PATH but a shell."""
    folder, log = tmp_path / "bin", tmp_path / "calls"
    folder.mkdir()
    shell = shutil.which("sh")
    assert shell

    def act(name: str, script: str) -> Path:
        file = folder / name
        file.write_text(f'#!{shell}\necho "{name} $*" >> "{log}"\n{script}\n', encoding="utf-8")
        file.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))
        return log

    return act
