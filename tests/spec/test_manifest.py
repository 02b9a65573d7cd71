"""The manifest is sound, and it and the tests name each other's ids."""

import re
from pathlib import Path

import pytest

from tests.spec.areas import AREAS, BY_ID, REQUIREMENTS
from tests.spec.model import Status, find_faults
from tests.spec.report import unproved
from tests.spec.usage import Usage, find_usage

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def usage() -> Usage:
    return find_usage(TESTS)


def expect_none(title: str, lines: list[str]) -> None:
    """Fail with one line for each; an assertion would repeat the whole list in its explanation."""
    if lines:
        pytest.fail("\n  ".join([f"{title}: {len(lines)}", *lines]), pytrace=False)


def test_the_manifest_is_sound() -> None:
    faults = find_faults(REQUIREMENTS)
    expect_none("unsound requirements", faults)


def test_every_area_module_is_listed() -> None:
    modules = {path.stem for path in (TESTS / "spec" / "areas").glob("*.py")} - {"__init__"}
    assert modules == set(AREAS)


def test_a_divergence_points_to_ids_that_exist() -> None:
    mentioned = {
        spec_id: requirement.id
        for requirement in REQUIREMENTS
        if requirement.status is Status.DIVERGED
        for spec_id in re.findall(r"(?<![\w/.])[a-z]\w*(?:\.[\w-]+)+", requirement.reason)
    }
    expect_none(
        "unknown ids in reasons",
        [f"{where}: {spec_id}" for spec_id, where in mentioned.items() if spec_id not in BY_ID],
    )


def test_every_required_id_is_named_by_a_test(usage: Usage) -> None:
    missing = [
        f"{area}: {requirement.id}"
        for area, requirements in AREAS.items()
        for requirement in unproved(requirements, usage.ids)
    ]
    expect_none("required without a test", missing)


def test_no_test_names_an_id_that_is_deferred(usage: Usage) -> None:
    early = [use.label for use in usage.uses if use.spec_id in BY_ID and BY_ID[use.spec_id].status is Status.DEFERRED]
    expect_none("named by a test, so move them to required", early)


def test_no_test_names_an_unknown_id(usage: Usage) -> None:
    unknown = [use.label for use in usage.uses if use.spec_id not in BY_ID]
    expect_none("unknown ids", unknown)


def test_every_marker_is_literal_and_marks_a_test(usage: Usage) -> None:
    expect_none("markers to mend", list(usage.faults))
