"""The agent as launchd reads it."""

import plistlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from daemon.service.installation import Installation
from daemon.service.launchd_agent import launchd_agent, trim_service_log

KNOWN: dict[str, type] = {
    "Label": str,
    "ProgramArguments": list,
    "EnvironmentVariables": dict,
    "RunAtLoad": bool,
    "KeepAlive": dict,
    "ThrottleInterval": int,
    "ExitTimeOut": int,
    "ProcessType": str,
    "LowPriorityIO": bool,
    "LowPriorityBackgroundIO": bool,
    "Nice": int,
    "Umask": int,
    "StandardOutPath": str,
    "StandardErrorPath": str,
}
"""Keys of launchd.plist(5) with their types; launchd passes over what it doesn't know without a word."""


@pytest.fixture
def agent(installation: Installation) -> dict[str, Any]:
    return read(replace(installation, environment={"CLAUDE_PROJECTS_DIR": "/Users/dev/a & b <c>"}))


def read(installation: Installation) -> dict[str, Any]:
    read_back = plistlib.loads(launchd_agent(installation))
    assert isinstance(read_back, dict)
    return read_back


@pytest.mark.spec("service.agent.keys")
def test_all_its_keys_are_known_and_of_their_types(agent: dict[str, Any]) -> None:
    assert {name: type(value) for name, value in agent.items()} == KNOWN


@pytest.mark.spec("service.agent.keys")
def test_it_is_started_at_login_by_whole_paths(agent: dict[str, Any], installation: Installation) -> None:
    assert agent["Label"] == "graph-memory"
    assert agent["ProgramArguments"] == list(installation.command)
    assert Path(agent["ProgramArguments"][0]).is_absolute(), "launchd expands no ~"
    assert agent["RunAtLoad"] is True
    assert agent["EnvironmentVariables"] == {"CLAUDE_PROJECTS_DIR": "/Users/dev/a & b <c>"}


@pytest.mark.spec("service.agent.keys")
def test_it_is_started_again_unless_it_ended_as_asked_and_not_in_a_hurry(agent: dict[str, Any]) -> None:
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert agent["ThrottleInterval"] == 60
    assert agent["ExitTimeOut"] == 60


@pytest.mark.spec("service.agent.keys")
def test_it_stays_behind_other_work(agent: dict[str, Any]) -> None:
    assert agent["ProcessType"] == "Background"
    assert agent["LowPriorityIO"] is agent["LowPriorityBackgroundIO"] is True
    assert agent["Nice"] == 10


@pytest.mark.spec("service.agent.keys")
def test_what_it_writes_is_private_and_in_the_home(agent: dict[str, Any], installation: Installation) -> None:
    assert agent["Umask"] == 0o077
    assert agent["StandardOutPath"] == agent["StandardErrorPath"] == str(installation.home.logs / "service.log")


def test_what_launchd_appends_to_does_not_grow_for_ever(tmp_path: Path) -> None:
    log = tmp_path / "service.log"
    trim_service_log(tmp_path)
    log.write_text("Error: mend me\n" * 100)
    trim_service_log(tmp_path)
    assert log.stat().st_size == 1_500
    log.write_text("Error: mend me\n" * 100_000)
    trim_service_log(tmp_path)
    assert log.stat().st_size == 0
