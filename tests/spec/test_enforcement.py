"""What holds the manifest and the tests together can itself be seen to fail."""

from pathlib import Path

import pytest

from tests.spec.model import Requirement, Status, Theme, deferred, diverged, find_faults, required, ruling
from tests.spec.report import render
from tests.spec.usage import Usage, read_usage

pytest_plugins = ["pytester"]

SECTION = ruling("Some section")
GOOD = required("thing.works", SECTION, "It works.")


def read(source: str) -> Usage:
    return read_usage(source, Path("test_it.py"))


@pytest.mark.parametrize(
    "source",
    [
        "@pytest.mark.spec('a.b', 'a.c')\ndef test_it(): ...",
        "@pytest.mark.spec('a.b')\n@pytest.mark.spec('a.c')\nasync def test_it(): ...",
        "class TestIt:\n    @pytest.mark.spec('a.b', 'a.c')\n    def test_it(self): ...",
        "@mark.spec('a.b', 'a.c')\nclass TestIt:\n    def test_it(self): ...",
        "pytestmark = pytest.mark.spec('a.b', 'a.c')",
        "pytestmark: list = [pytest.mark.spec('a.b'), pytest.mark.spec('a.c')]",
        "@given([param(marks=pytest.mark.spec('a.b')), param(marks=[pytest.mark.spec('a.c')])])\ndef test_it(x): ...",
    ],
)
def test_markers_are_found_wherever_pytest_applies_them(source: str) -> None:
    usage = read(source)
    assert usage.ids == {"a.b", "a.c"}
    assert usage.faults == ()


@pytest.mark.parametrize(
    "source",
    [
        "@pytest.mark.spec('a.b')\ndef helper(): ...",
        "prove = pytest.mark.spec('a.b')\n@prove\ndef test_it(): ...",
        "spec = pytest.mark.spec\n@spec('a.b')\ndef test_it(): ...",
        "@pytest.mark.spec\ndef test_it(): ...",
    ],
)
def test_a_marker_that_marks_no_test_proves_nothing_and_is_reported(source: str) -> None:
    usage = read(source)
    assert usage.uses == ()
    assert len(usage.faults) == 1


@pytest.mark.parametrize("arguments", ["", "name", "'a.' + 'b'", "*ids", "'a.b', why='so'", "1"])
def test_a_marker_whose_ids_cannot_be_read_is_reported(arguments: str) -> None:
    assert len(read(f"@pytest.mark.spec({arguments})\ndef test_it(): ...").faults) == 1


def test_text_about_markers_is_no_marker() -> None:
    assert read("text = \"@pytest.mark.spec('a.b')\"\n# @pytest.mark.spec('a.c')") == Usage((), ())


@pytest.mark.parametrize(
    "unsound",
    [
        Requirement("Thing.Works", SECTION, "It does.", Status.REQUIRED),
        Requirement("thing", SECTION, "It does.", Status.REQUIRED),
        Requirement("thing.else", SECTION, "it does", Status.REQUIRED),
        Requirement("thing.else", SECTION, "It does.", Status.REQUIRED, "For no reason."),
        Requirement("thing.else", ruling(""), "It does.", Status.REQUIRED),
        Requirement("thing.else", SECTION, "It does.", Status.DEFERRED),
        Requirement("thing.else", SECTION, "It does.", Status.DEFERRED, "some day"),
        Requirement("thing.else", SECTION, "It does.", Status.DIVERGED),
        required("thing.works", SECTION, "It works in another way."),
        required("thing.too", SECTION, "It works."),
    ],
)
def test_an_unsound_requirement_is_found(unsound: Requirement) -> None:
    assert len(find_faults([GOOD, unsound])) == 1


def test_sound_requirements_have_no_faults() -> None:
    later = deferred("thing.later", SECTION, "It will.", Theme.SERVICE)
    never = diverged("thing.never", SECTION, "It would.", "It does harm.")
    assert find_faults([GOOD, later, never]) == []


def test_the_table_tells_proved_from_unproved() -> None:
    also = required("thing.also", SECTION, "It works too.")
    later = deferred("thing.later", SECTION, "It will.", Theme.SERVICE)
    never = diverged("thing.never", SECTION, "It would.", "It does harm.")
    usage = read("@pytest.mark.spec('thing.works', 'thing.unheard')\ndef test_it(): ...")

    lines = render({"things": (GOOD, also, later, never)}, usage).splitlines()

    assert lines[1].split() == ["things", "4", "1", "1", "1", "1"]
    assert lines[2].split() == ["all", "4", "1", "1", "1", "1"]
    assert lines.count("required without a test: 1") == lines.count("  things: thing.also") == 1
    assert lines.count("deferred: 1") == lines.count("  service: 1") == 1
    assert lines.count("  thing.never (ruling: Some section): It does harm.") == 1
    assert lines[-1] == "  test_it.py:1: thing.unheard is no id"


UNKNOWN_ID = "import pytest\n\n@pytest.mark.spec('names.key.casefolded')\ndef test_it(): ..."
REFUSAL = "*test_it: no requirement has the id 'names.key.casefolded'; did you mean 'names.key.casefold'?"


def test_an_unknown_id_fails_collection_and_names_the_nearest(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(UNKNOWN_ID)

    result = pytester.runpytest_inprocess("-p", "tests.spec.plugin")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(REFUSAL)


def test_an_unknown_id_fails_collection_on_workers_too(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    pytester.makepyfile(UNKNOWN_ID)

    result = pytester.runpytest_subprocess("-p", "tests.spec.plugin", "-n", "1")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(REFUSAL)


def test_known_ids_are_collected_and_the_marker_is_registered(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import pytest\n\n@pytest.mark.spec('names.key.casefold')\ndef test_it(): ...")

    result = pytester.runpytest_inprocess("-p", "tests.spec.plugin", "--strict-markers")

    result.assert_outcomes(passed=1)
