"""The pytest side of the manifest: the marker, and no collecting of tests that name an id nobody wrote down."""

from collections.abc import Generator, Iterator
from difflib import get_close_matches

import pytest

from tests.spec.areas import BY_ID


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker wherever the plugin is loaded."""
    config.addinivalue_line("markers", "spec(*ids): the ids in tests/spec that this test proves")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn a module or class with an unknown id into a collection error, on workers of xdist as well."""
    report = yield
    items = [node for node in report.result or () if isinstance(node, pytest.Item)]
    faults = dict.fromkeys(fault for item in items for fault in _faults_of(item))
    if faults:
        report.outcome = "failed"
        report.longrepr = "\n".join(faults)
        report.result = []
    return report


def _faults_of(item: pytest.Item) -> Iterator[str]:
    # Parameters are left out of the name: the same marker on each of them is one fault.
    name = item.nodeid.partition("[")[0]
    for marker in item.iter_markers("spec"):
        if not marker.args or marker.kwargs:
            yield f"{name}: @pytest.mark.spec takes one or more ids and nothing else"
        for spec_id in marker.args:
            if spec_id not in BY_ID:
                yield f"{name}: no requirement has the id {spec_id!r}{_nearest(spec_id)}"


def _nearest(spec_id: object) -> str:
    matches = get_close_matches(str(spec_id), BY_ID, n=1)
    return f"; did you mean {matches[0]!r}?" if matches else " (see tests/spec/areas)"
