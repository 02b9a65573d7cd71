"""Wiring: from a home folder and its settings to services over an open store."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from graph_memory.adapters.files.audit_log import AuditLog
from graph_memory.adapters.files.backup_folder import BackupFolder
from graph_memory.adapters.sqlite.migrations import Migrated
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.config import LoadedConfig
from graph_memory.config.settings import Settings
from graph_memory.domain.affinity import AffinityPolicy
from graph_memory.domain.decay import DecayPolicy
from graph_memory.domain.due_times import CLOCK_JOBS, next_due
from graph_memory.domain.ledger import RunStatus
from graph_memory.domain.memory_policy import MemoryPolicy
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.domain.retries import ENOUGH_RUNS, retry_at
from graph_memory.domain.supersession import single_valued_keys
from graph_memory.domain.weights import WeightPolicy
from graph_memory.home import Home, StoreIdentity
from graph_memory.log import get_logger
from graph_memory.pauses import find_pause, pause_words
from graph_memory.ports.store import Store
from graph_memory.services.audit import Audit
from graph_memory.services.backup import Backup
from graph_memory.services.expire import Expire
from graph_memory.services.insight import Insight
from graph_memory.services.merge_suggestions import MergeSuggestions
from graph_memory.services.network import MemoryDecay
from graph_memory.services.orient import Orient
from graph_memory.services.recall import Recall
from graph_memory.services.relate import Relate
from graph_memory.services.restore import Restore
from graph_memory.services.search import MemorySearch
from graph_memory.services.upkeep import Upkeep
from graph_memory.services.write import MemoryWrite

MEGABYTE = 1_000_000
_LOG = get_logger("bootstrap")


def utc_now() -> datetime:
    """Return the instant it is."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Services:
    """All use cases over one store."""

    home: Home
    settings: Settings
    clock: Callable[[], datetime]
    store: Store
    graph_policy: GraphPolicy
    memory_policy: MemoryPolicy
    audit: Audit
    relate: Relate
    recall: Recall
    upkeep: Upkeep
    insight: Insight
    backup: Backup
    restore: Restore
    memory_write: MemoryWrite
    memory_search: MemorySearch
    orient: Orient
    memory_decay: MemoryDecay
    expire: Expire
    merge_suggestions: MergeSuggestions

    def embedder(self) -> str:
        """Name what makes vectors of texts."""
        return "none: this version searches by words alone"

    def next_runs(self) -> Mapping[str, datetime | None]:
        """Tell when each job is run next: by the clock, or sooner, after a failure; `None` where it is switched off."""
        now, settings = self.clock(), self.settings.jobs
        times = {name: getattr(settings, name) for name in CLOCK_JOBS}
        due = {name: next_due(when, now) for name, when in times.items() if when.enabled}
        runs = self.store.read(LOCAL_ADMIN, lambda tx: {name: tx.upkeep.runs(name, ENOUGH_RUNS) for name in due})
        for name, noted in runs.items():
            again_at = retry_at(noted, settings.backoff_seconds, settings.backoff_max_seconds)
            if again_at is not None:
                due[name] = min(due[name], again_at)
        return {name: due.get(name) for name in times}

    def degraded(self) -> tuple[str, ...]:
        """Name the parts that don't work as they should, each with its reason; none in a healthy system."""
        runs = self.store.read(LOCAL_ADMIN, lambda tx: tx.upkeep.last_runs())
        failed = (it for _, it in sorted(runs.items()) if it.status is RunStatus.FAILED)
        pause = find_pause(self.home, self.clock())
        paused = () if pause is None else (pause_words(pause),)
        return (*paused, *(f"job {it.job}: {it.error}" for it in failed))


def graph_policy(settings: Settings) -> GraphPolicy:
    """Take the policy of the graph family from the settings."""
    weights, decay, affinity = settings.weights, settings.decay, settings.affinity
    return GraphPolicy(
        weights=WeightPolicy(
            explicit_statement=weights.explicit_statement,
            inferred=weights.inferred,
            from_memory_file=weights.from_memory_file,
            boost_on_confirm=weights.boost_on_confirm,
            boost_on_mention=weights.boost_on_mention,
            weaken_on_correct=weights.weaken_on_correct,
            project_context_boost=weights.project_context_boost,
        ),
        decay=DecayPolicy(
            rates=decay.rates,
            other_rate=decay.default_rate,
            relation_rate=decay.edge_rate,
            prune_node_threshold=decay.prune_node_threshold,
            prune_edge_threshold=decay.prune_edge_threshold,
        ),
        affinity=AffinityPolicy(affinity.hop_1_multiplier, affinity.hop_2_multiplier),
        single_valued=single_valued_keys(settings.relations.single_valued),
    )


def memory_policy(settings: Settings) -> MemoryPolicy:
    """Take the policy of the memory family from the settings."""
    memory = settings.memory
    return MemoryPolicy(
        ephemeral_days=memory.ephemeral_days, decay_days=memory.decay_days, prune_floor=memory.prune_floor
    )


def log_upgrade(migrated: Migrated) -> None:
    """Log that the database was upgraded."""
    copy = None if migrated.copy is None else migrated.copy.name
    _LOG.warning("store_upgraded", before=migrated.before, now=migrated.version, copy=copy)


def open_store(config: LoadedConfig, *, on_upgrade: Callable[[Migrated], None] = log_upgrade) -> Store:
    """Open the store of a home, and make both where they are missing; `on_upgrade` is told that it was upgraded.

    Raises:
        ConfigError: the home can't be used, or belongs to another store.
        Unavailable: the store can't be opened now.
    """
    home = config.home
    config.require_usable_store()
    home.check_kind(config.settings.store.kind)
    home.ensure()
    home.refuse_network_filesystem()
    store = SqliteStore(home.database)
    if store.migrated.before is not None:
        on_upgrade(store.migrated)
    try:
        identity = store.identity()
        home.claim_store(StoreIdentity(identity.kind, identity.database_id))
    except BaseException:
        store.close()
        raise
    return store


def build_services(
    config: LoadedConfig,
    store: Store,
    *,
    clock: Callable[[], datetime] = utc_now,
    pause: Callable[[float], None] = time.sleep,
) -> Services:
    """Wire the services of a home over a store."""
    home, settings = config.home, config.settings
    graph, memory = graph_policy(settings), memory_policy(settings)
    limits = settings.limits
    sink = AuditLog(home.dream_audit, max_bytes=limits.audit_mb * MEGABYTE, keep=limits.audit_files)
    backups = BackupFolder(home.backups)
    return Services(
        home=home,
        settings=settings,
        clock=clock,
        store=store,
        graph_policy=graph,
        memory_policy=memory,
        audit=Audit(store, clock, sink),
        relate=Relate(store, clock, graph),
        recall=Recall(store, clock, graph.affinity),
        upkeep=Upkeep(store, clock, graph.decay, pause),
        insight=Insight(store, clock),
        backup=Backup(store, clock, backups, graph),
        restore=Restore(store, clock, backups, graph),
        memory_write=MemoryWrite(store, clock, memory, graph),
        memory_search=MemorySearch(store, clock),
        orient=Orient(store),
        memory_decay=MemoryDecay(store, clock, memory, pause),
        expire=Expire(store, clock, memory, pause),
        merge_suggestions=MergeSuggestions(store, clock),
    )


@contextmanager
def open_services(
    config: LoadedConfig,
    *,
    clock: Callable[[], datetime] = utc_now,
    on_upgrade: Callable[[Migrated], None] = log_upgrade,
) -> Iterator[Services]:
    """Open the store of a home and its services, and close it in the end."""
    store = open_store(config, on_upgrade=on_upgrade)
    try:
        yield build_services(config, store, clock=clock)
    finally:
        store.close()
