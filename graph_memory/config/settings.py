"""Every setting with its default, its bounds and what it is for.

The tree is plain frozen dataclasses, so that no process pays for a validator at its start; `overlay` lays the file and
the environment over it. A `Range` is what a wrong number is clamped to; an `About` is the line that
`docs/configuration.md` shows. Units stand in the name, or are days where it says days.

Policy takes these as values: nothing below the composition roots imports this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import time
from pathlib import Path
from typing import Annotated, Literal

from graph_memory.config.leaves import About, Filled, Interval, Range

Fraction = Annotated[float, Range(0.0, 1.0)]
Rate = Annotated[float, Range(0.5, 1.0)]
Days = Annotated[float, Range(0.0, 36_500.0)]
KeptDays = Annotated[int, Range(1, 36_500)]
Multiplier = Annotated[float, Range(1.0, 10.0)]
Seconds = Annotated[float, Range(0.1, 86_400.0)]
Files = Annotated[int, Range(1, 1_000)]
Megabytes = Annotated[int, Range(1, 1_048_576)]
Names = tuple[Annotated[str, Filled()], ...]
Intervals = tuple[Annotated[str, Interval()], ...]
Folders = tuple[Path, ...]

StoreKind = Literal["sqlite", "neo4j"]
ToolFamily = Literal["graph", "memory", "sql"]
Day = Literal["hourly", "daily", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
Engine = Literal["auto", "onnx", "sentence-transformers", "socket", "hashing", "none"]
Level = Literal["debug", "info", "warning", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """Where the memory is kept."""

    kind: Annotated[StoreKind, About("`sqlite`; `neo4j` is not used yet")] = "sqlite"


@dataclass(frozen=True, slots=True, kw_only=True)
class Neo4j:
    """The Neo4j server, where that is the store; its password is a credential and never a setting."""

    uri: Annotated[
        str, Filled(), About("not used yet: Bolt address: `bolt://`, `neo4j://`, `bolt+s://` or `neo4j+s://`")
    ] = "bolt://localhost:7687"
    user: Annotated[str, Filled(), About("not used yet: user name")] = "neo4j"
    database: Annotated[str, Filled(), About("not used yet: database name")] = "neo4j"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much a statement counts."""

    explicit_statement: Annotated[Fraction, About("said in a conversation or by hand")] = 0.7
    inferred: Annotated[Fraction, About("found by extraction alone")] = 0.3
    from_memory_file: Annotated[Fraction, About("read in a document")] = 0.5
    boost_on_confirm: Annotated[Fraction, About("added by `graph_boost` without an amount")] = 0.15
    boost_on_mention: Annotated[Fraction, About("added by each further mention")] = 0.05
    weaken_on_correct: Annotated[Fraction, About("taken by `graph_weaken` without an amount")] = 0.3
    project_context_boost: Annotated[Fraction, About("added once to what is learned in a project about it")] = 0.10


def _default_rates() -> dict[str, float]:
    return {
        "Person": 0.998,
        "Project": 0.995,
        "Preference": 0.999,
        "Concept": 0.999,
        "Decision": 0.997,
        "Fact": 0.996,
        "Event": 0.993,
        "Object": 0.996,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Decay:
    """How the graph forgets; a rate is what is left of a value after one day."""

    rates: Annotated[Mapping[str, Rate], About("per entity type, whose case doesn't matter")] = field(
        default_factory=_default_rates
    )
    default_rate: Annotated[Rate, About("entity types without a rate of their own")] = 0.996
    edge_rate: Annotated[Rate, About("relations")] = 0.997
    prune_node_threshold: Annotated[Fraction, About("entities less certain may be pruned")] = 0.1
    prune_edge_threshold: Annotated[Fraction, About("relations weaker may be pruned")] = 0.05
    prune_orphan_days: Annotated[Days, About("days after which an entity without relations may be pruned")] = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a question gets where it says nothing else."""

    default_max_hops: Annotated[int, Range(1, 4), About("hops from the entities found")] = 2
    default_min_weight: Annotated[Fraction, About("weaker relations are not followed")] = 0.3
    default_limit: Annotated[int, Range(1, 500), About("entities in an answer")] = 20
    cypher_timeout_ms: Annotated[int, Range(100, 60_000), About("not used yet: longest run of `graph_cypher`")] = 5_000
    cypher_max_rows: Annotated[int, Range(1, 10_000), About("not used yet: most rows of `graph_cypher`")] = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Affinity:
    """How much nearer to the project at hand something ranks."""

    hop_1_multiplier: Annotated[Multiplier, About("the project and what is one hop from it")] = 1.3
    hop_2_multiplier: Annotated[Multiplier, About("two hops from it")] = 1.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """What is known of relation types."""

    single_valued: Annotated[
        Names,
        About("types with one current target, besides `WORKS_AT`, `REPORTS_TO`, `HOSTED_ON`, `LIVES_IN`, `HAS_STATUS`"),
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """How notes and their links fade."""

    ephemeral_days: Annotated[Days, About("days until an `ephemeral` memory without `expires_at` is archived")] = 14.0
    decay_days: Annotated[KeptDays, About("days of one decay cycle of synapses")] = 7
    prune_floor: Annotated[Fraction, About("automatic synapses that decay below it are removed")] = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """Search by meaning."""

    engine: Annotated[Engine, About("not used yet: `auto` takes the daemon's, else `onnx` where it is installed")] = (
        "auto"
    )
    model: Annotated[str, About("not used yet: model name or folder; empty: the engine's own")] = ""
    batch: Annotated[
        int, Range(1, 256), About("not used yet: texts per call; more than 8 costs memory and wins nothing")
    ] = 8
    search_thresholds: Annotated[
        Mapping[str, Fraction], About("not used yet: least similarity of a hit, per model id; `*` is any other model")
    ] = field(default_factory=lambda: {"*": 0.5})
    merge_thresholds: Annotated[
        Mapping[str, Fraction],
        About("not used yet: least similarity of a merge candidate, per model id; `*` is any other model"),
    ] = field(default_factory=lambda: {"*": 0.85})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingest:
    """What is learned, and how fast."""

    projects_dirs: Annotated[Folders, About("where Claude Code keeps its transcripts")] = (Path("~/.claude/projects"),)
    allowed_dirs: Annotated[
        Folders, About("folders whose files a client may name; hidden folders below stay closed")
    ] = (Path("~"),)
    since_days: Annotated[Days, About("days the first run reads back, by modification time")] = 90.0
    stable_seconds: Annotated[Seconds, About("a dropped file is read when unchanged for this long")] = 1.0
    rescan_seconds: Annotated[Seconds, About("full look at all folders, whatever the watcher missed")] = 300.0
    polling: Annotated[bool, About("poll instead of waiting for file events, for folders that send none")] = False
    items_per_minute: Annotated[int, Range(1, 100_000), About("pace of the backlog")] = 600
    max_inline_bytes: Annotated[int, Range(1_024, 67_108_864), About("largest content a client may send inline")] = (
        2_097_152
    )
    max_file_bytes: Annotated[
        int, Range(1_024, 4_294_967_296), About("largest document that is read; larger ones fail by name")
    ] = 67_108_864
    convert_seconds: Annotated[
        Seconds, About("of a processor, for reading one document of a kind like PDF; it fails by name beyond that")
    ] = 120.0
    convert_mb: Annotated[
        int, Range(200, 1_048_576), About("memory of the process that reads such a document; 140 of it are its readers")
    ] = 512
    whole_chars: Annotated[int, Range(200, 100_000), About("documents up to this length are one memory")] = 6_000
    chunk_chars: Annotated[int, Range(200, 20_000), About("about the length of a chunk of a longer one")] = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclude:
    """What is never learned; an empty `.no-memory` file in a project's folder does the same."""

    projects: Annotated[Names, About("project ids")] = ()
    folders: Annotated[Folders, About("folders and all below them")] = ()
    sessions: Annotated[Names, About("session ids")] = ()
    times: Annotated[
        Intervals,
        About("what was said then, as ISO-8601 intervals; `graph-memory resume --skip` adds the pause that it ends"),
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockJob:
    """A job that runs by the clock, caught up when the machine slept."""

    enabled: Annotated[bool, About("run it")] = True
    at: Annotated[time, About("local time, `HH:MM`; of an hourly job the minutes count")] = time(3, 0)
    day: Annotated[Day, About("`hourly`, `daily`, or the day of the week")] = "daily"


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """When the daemon does what."""

    export: ClockJob = ClockJob(at=time(2, 30))
    decay: ClockJob = ClockJob(at=time(3, 0))
    expire: ClockJob = ClockJob(at=time(3, 10))
    memory_decay: ClockJob = ClockJob(at=time(3, 20), day="sunday")
    merge_suggestions: ClockJob = ClockJob(at=time(3, 40), day="sunday")
    validate: ClockJob = ClockJob(at=time(4, 0))
    communities: ClockJob = ClockJob(at=time(4, 10))
    archive: ClockJob = ClockJob(at=time(0, 7), day="hourly")
    backoff_seconds: Annotated[Seconds, About("wait after a job's first failure, doubled by each further one")] = 60.0
    backoff_max_seconds: Annotated[Seconds, About("longest wait after failures")] = 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Backups."""

    keep: Annotated[Files, About("nightly backups kept; labelled ones don't count")] = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Ceilings that hold whatever happens."""

    max_reply_bytes: Annotated[int, Range(16_384, 16_777_216), About("largest reply of a tool")] = 262_144
    memory_mb: Annotated[int, Range(100, 1_048_576), About("the daemon's memory")] = 600
    cpu_share: Annotated[float, Range(0.01, 64.0), About("cores for the backlog")] = 0.5
    free_disk_mb: Annotated[
        int, Range(0, 1_048_576), About("learning stops while the home's disk has less free than this; 0: never")
    ] = 500
    archive_mb: Annotated[Megabytes, About("the transcript archive; the oldest goes first")] = 2_048
    log_files: Annotated[Files, About("log files kept")] = 5
    log_mb: Annotated[Megabytes, About("size of one log file")] = 10
    audit_files: Annotated[Files, About("audit files kept")] = 10
    audit_mb: Annotated[Megabytes, About("size of one audit file")] = 50
    completed_days: Annotated[KeptDays, About("days in `completed/`")] = 30
    failed_days: Annotated[KeptDays, About("days in `failed/`")] = 90
    changelog_days: Annotated[KeptDays, About("days of changelogs")] = 365


@dataclass(frozen=True, slots=True, kw_only=True)
class Mcp:
    """What clients see."""

    tools: Annotated[tuple[ToolFamily, ...], Filled(), About("families of tools that are listed")] = (
        "graph",
        "memory",
        "sql",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """Figures for Prometheus, on 127.0.0.1 alone; needs the extra `metrics`."""

    enabled: Annotated[bool, About("serve them at `http://127.0.0.1:PORT/metrics`")] = False
    port: Annotated[int, Range(1, 65_535), About("port")] = 9_779


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The log; it holds ids and figures, never stored text."""

    level: Annotated[Level, About("`debug`, `info`, `warning` or `error`")] = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings, by section."""

    store: Store = Store()
    neo4j: Neo4j = Neo4j()
    weights: Weights = Weights()
    decay: Decay = field(default_factory=Decay)
    query: Query = Query()
    affinity: Affinity = Affinity()
    relations: Relations = Relations()
    memory: Memory = Memory()
    embedding: Embedding = field(default_factory=Embedding)
    ingest: Ingest = Ingest()
    exclude: Exclude = Exclude()
    jobs: Jobs = Jobs()
    export: Export = Export()
    limits: Limits = Limits()
    mcp: Mcp = Mcp()
    metrics: Metrics = Metrics()
    log: Log = Log()
