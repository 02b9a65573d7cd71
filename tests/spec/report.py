"""The table that `python -m tests.spec` prints."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from tests.spec.model import Requirement, Status
from tests.spec.usage import Usage

COLUMNS = ("area", "total", "proved", "unproved", "deferred", "diverged")


def render(areas: Mapping[str, Sequence[Requirement]], usage: Usage) -> str:
    """Show what is proved by area, then list what is not, what is deferred to which theme, and what diverges."""
    everything = [requirement for requirements in areas.values() for requirement in requirements]
    sections = (
        _table(areas, usage.ids),
        _unproved(areas, usage.ids),
        _deferred(everything),
        _diverged(everything),
        _faults(usage, {requirement.id for requirement in everything}),
    )
    return "\n\n".join("\n".join(section) for section in map(tuple, sections) if section)


def unproved(requirements: Sequence[Requirement], proved: AbstractSet[str]) -> list[Requirement]:
    """Return what is required and named by no test."""
    return [
        requirement
        for requirement in requirements
        if requirement.status is Status.REQUIRED and requirement.id not in proved
    ]


def _table(areas: Mapping[str, Sequence[Requirement]], proved: AbstractSet[str]) -> Iterator[str]:
    rows = {area: _row(requirements, proved) for area, requirements in areas.items()}
    rows["all"] = tuple(map(sum, zip(*rows.values(), strict=True)))
    width = max(map(len, (*rows, COLUMNS[0])))
    yield COLUMNS[0].ljust(width) + "".join(column.rjust(10) for column in COLUMNS[1:])
    for area, row in rows.items():
        yield area.ljust(width) + "".join(str(number).rjust(10) for number in row)


def _row(requirements: Sequence[Requirement], proved: AbstractSet[str]) -> tuple[int, ...]:
    by_status = Counter(requirement.status for requirement in requirements)
    missing = len(unproved(requirements, proved))
    return (
        len(requirements),
        by_status[Status.REQUIRED] - missing,
        missing,
        by_status[Status.DEFERRED],
        by_status[Status.DIVERGED],
    )


def _unproved(areas: Mapping[str, Sequence[Requirement]], proved: AbstractSet[str]) -> Iterator[str]:
    missing = {area: unproved(requirements, proved) for area, requirements in areas.items()}
    count = sum(map(len, missing.values()))
    yield f"required without a test: {count}"
    for area, requirements in missing.items():
        yield from (f"  {area}: {requirement.id}" for requirement in requirements)


def _deferred(requirements: Sequence[Requirement]) -> Iterator[str]:
    themes = Counter(requirement.reason for requirement in requirements if requirement.status is Status.DEFERRED)
    yield f"deferred: {themes.total()}"
    for theme, count in themes.most_common():
        yield f"  {theme}: {count}"


def _diverged(requirements: Sequence[Requirement]) -> Iterator[str]:
    diverged = [requirement for requirement in requirements if requirement.status is Status.DIVERGED]
    yield f"diverged: {len(diverged)}"
    for requirement in diverged:
        yield f"  {requirement.id} ({requirement.source.label}): {requirement.reason}"


def _faults(usage: Usage, known: AbstractSet[str]) -> Iterator[str]:
    faults = [*usage.faults, *(f"{use.label} is no id" for use in usage.uses if use.spec_id not in known)]
    if faults:
        yield f"markers to mend: {len(faults)}"
        yield from (f"  {fault}" for fault in faults)
