"""All that `graph-memory doctor` looks at, in order.

Every check returns findings and raises nothing that it knows of. None makes or changes anything by itself: a home that
isn't there is a finding, not a reason to make one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from cli.findings import Finding, Level, bad
from cli.home_checks import folders, home, leftovers, logs, permissions, settings
from cli.machine_checks import clock, disk, file_events, python, sqlite
from cli.memory_checks import backups, daemon, embedder, projects, service, store, work, write_ahead_log
from graph_memory.config import LoadedConfig
from graph_memory.domain.errors import GraphMemoryError

Check = Callable[[LoadedConfig], Iterator[Finding]]

CHECKS: Sequence[Check] = (
    python,
    sqlite,
    settings,
    home,
    permissions,
    folders,
    leftovers,
    disk,
    clock,
    projects,
    file_events,
    embedder,
    daemon,
    service,
    store,
    write_ahead_log,
    backups,
    work,
    logs,
)


def examine(config: LoadedConfig, checks: Sequence[Check] | None = None) -> Iterator[Finding]:
    """Run every check; one that breaks is a finding itself and stops no other."""
    for check in CHECKS if checks is None else checks:
        name = check.__name__.replace("_", " ")
        try:
            yield from check(config)
        except OSError as error:
            where = f": {error.filename}" if error.filename else ""
            yield bad(name, f"{error.strerror or error}{where}", "make it readable for you")
        except GraphMemoryError as error:
            yield bad(name, str(error), "see the other findings")


def counts(findings: Sequence[Finding]) -> Mapping[Level, int]:
    """Count findings by level."""
    return {level: sum(it.level is level for it in findings) for level in Level}
