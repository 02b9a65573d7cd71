"""Putting a home back: what is there goes into a backup of its own first, or aside where it is damaged."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from daemon.instance import AlreadyRunning, hold_home
from graph_memory.adapters.files.backup_folder import BackupFolder
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.adapters.sqlite.upgrade_copies import set_aside
from graph_memory.bootstrap import Services, open_services
from graph_memory.config import LoadedConfig
from graph_memory.domain.backups import BackupFile, ImportMode
from graph_memory.domain.errors import GraphMemoryError, InvalidRequest, NotFound, StoreDamaged, Unavailable
from graph_memory.domain.ledger import Tombstone
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.home import Home
from graph_memory.services.restore import Imported

LATEST = "latest"
LABEL = "before restore"
_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What a restore would do: `preview` is `None` where nothing can be compared, as there is no sound database."""

    backup: BackupFile
    preview: Imported | None
    is_damaged: bool = False

    @property
    def is_replacing(self) -> bool:
        """Tell whether anything goes that is there now."""
        return self.is_damaged or (self.preview is not None and any(self.preview.removed.values()))


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did: where what there was before lies now, and whether its tombstones could be read there."""

    imported: Imported
    backup_before: Path | None = None
    aside: Path | None = None
    is_forgotten_known: bool = True


def find_backup(home: Home, name: str) -> BackupFile:
    """Find and check the backup that a person names: a path, a name in the backups folder, or `latest`.

    Those that restores made of what was there before don't count for `latest`.

    Raises:
        NotFound: there is none.
        InvalidRequest: it is damaged, or no backup.
    """
    folder = BackupFolder(home.backups)
    if name != LATEST:
        file = Path(name).expanduser()
        return folder.check(str(file.absolute()) if file.exists() else name)
    found = sorted(home.backups.glob("????-??-??T*.jsonl"), key=lambda it: it.stem, reverse=True)
    found = [it for it in found if not it.stem.endswith("-before-restore")]
    if not found:
        raise NotFound(f"there is no backup in {home.backups}; give the path of one")
    try:
        return folder.check(str(found[0]))
    except InvalidRequest as error:
        other = f"; the one before it: `graph-memory restore {found[1].name}`" if found[1:] else ""
        raise InvalidRequest(f"the latest backup is damaged: {error}{other}", argument="file") from error


@contextmanager
def alone(home: Home) -> Iterator[None]:
    """Keep daemons out of a home for as long as this lasts: what one holds in memory would not fit afterwards.

    Servers and commands may go on: the backup is put back in one transaction.

    Raises:
        AlreadyRunning: one is running.
    """
    try:
        with hold_home(home):
            yield
    except AlreadyRunning as error:
        raise AlreadyRunning(f"nothing was restored: {error}") from error


def plan_restore(config: LoadedConfig, backup: BackupFile) -> Plan:
    """Look what a restore would do, and change nothing.

    Raises:
        ConfigError: the home can't be used, or its database is newer than this program.
        Unavailable: the store can't be used now.
    """
    if not config.home.database.exists():
        return Plan(backup, None)
    try:
        with open_services(config) as services:
            return Plan(backup, _imported(services, backup, dry_run=True))
    except StoreDamaged:
        return Plan(backup, None, is_damaged=True)


def apply_restore(config: LoadedConfig, plan: Plan) -> Restored:
    """Put a backup in the place of what is there; all of it or nothing.

    Raises:
        ConfigError: the home can't be used.
        InvalidRequest: the backup's rows contradict each other.
        Unavailable: the store or the backups folder can't be written; what is there is as it was, or lies aside.
    """
    if plan.is_damaged:
        return _restore_aside(config, plan.backup)
    config.home.ensure()
    try:
        with open_services(config) as services:
            before = _backed_up(services) if plan.is_replacing else None
            return Restored(_restored(services, plan.backup), before)
    except StoreDamaged:  # in a page that the look did not come to
        return _restore_aside(config, plan.backup)


def _restore_aside(config: LoadedConfig, backup: BackupFile) -> Restored:
    """Restore into a new database; the damaged one stays beside it, and what it says was forgotten stays so."""
    aside = set_aside(config.home.database)
    tombstones, is_whole = _tombstones(aside)
    config.home.store_file.unlink(missing_ok=True)  # it names the database that lies aside
    with open_services(config) as services:
        services.store.write(LOCAL_ADMIN, lambda tx: tx.ledger.put_tombstones(tombstones))
        return Restored(_restored(services, backup), aside=aside, is_forgotten_known=is_whole)


def _tombstones(aside: Path) -> tuple[list[Tombstone], bool]:
    """Read what was forgotten from a damaged database, as far as that goes; tell whether it went to the end."""
    found: list[Tombstone] = []
    try:
        with closing(SqliteStore(aside)) as store:
            while page := _page(store, found):
                found += page
    except GraphMemoryError:
        return found, False
    return found, True


def _page(store: SqliteStore, found: Sequence[Tombstone]) -> Sequence[Tombstone]:
    after = found[-1].content_key if found else None
    return store.read(LOCAL_ADMIN, lambda tx: tx.ledger.page_tombstones(after, _PAGE))


def _backed_up(services: Services) -> Path:
    """Write what is there into a backup that no retention removes; nor may it remove the one to be restored."""
    exported = services.backup.export(LOCAL_ADMIN, keep=sys.maxsize, label=LABEL)
    return Path(exported.file.path)


def _restored(services: Services, backup: BackupFile) -> Imported:
    imported = _imported(services, backup, dry_run=False)
    try:
        services.audit.drain(LOCAL_ADMIN)
    except Unavailable:
        return imported  # what waits for the audit waits in the store
    return imported


def _imported(services: Services, backup: BackupFile, *, dry_run: bool) -> Imported:
    return services.restore.import_file(LOCAL_ADMIN, backup.path, mode=ImportMode.REPLACE, dry_run=dry_run)
