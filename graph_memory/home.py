"""The home folder: what lies where, private to its owner, and which store it belongs to."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import asdict, dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from graph_memory.domain.errors import ConfigError, StoreMismatch
from graph_memory.mounts import find_network_mount
from graph_memory.whole_files import put_file, sync_folder

_FOLDER = 0o700
_FILE = 0o600
_OTHERS = 0o077
_LONGEST_SOCKET = 100
"""Bytes; Linux takes 107 in a socket's path, macOS 103."""

_STORE_NAMES = {"sqlite": "SQLite", "neo4j": "Neo4j"}


@dataclass(frozen=True, slots=True)
class StoreIdentity:
    """Which database a home belongs to: its kind, and the id that the database carries itself."""

    kind: str
    database_id: str


@dataclass(frozen=True, slots=True)
class Home:
    """A home folder by its absolute path; making one touches nothing."""

    path: Path

    @property
    def database(self) -> Path:
        """The SQLite store."""
        return self.path / "memory.db"

    @property
    def write_ahead_log(self) -> Path:
        """What the SQLite store has not moved into its file yet."""
        return self.path / "memory.db-wal"

    @property
    def config_file(self) -> Path:
        """The settings that differ from the defaults."""
        return self.path / "config.json"

    @property
    def credentials_file(self) -> Path:
        """Secrets, for who can't set them in the environment."""
        return self.path / "credentials.env"

    @property
    def store_file(self) -> Path:
        """Which store this home belongs to."""
        return self.path / "store.json"

    @property
    def inbox(self) -> Path:
        """The folder of the four queue folders."""
        return self.path / "ingest"

    @property
    def pending(self) -> Path:
        """Dropped documents that wait."""
        return self.inbox / "pending"

    @property
    def processing(self) -> Path:
        """Documents that a worker has claimed."""
        return self.inbox / "processing"

    @property
    def completed(self) -> Path:
        """Documents that were learned."""
        return self.inbox / "completed"

    @property
    def failed(self) -> Path:
        """Documents that could not be learned, each with its reason."""
        return self.inbox / "failed"

    @property
    def logs(self) -> Path:
        """Logs, audit and changelogs."""
        return self.path / "logs"

    @property
    def daemon_log(self) -> Path:
        """The daemon's log."""
        return self.logs / "daemon.log"

    @property
    def dream_audit(self) -> Path:
        """The audit of writes and jobs."""
        return self.logs / "dream-audit.jsonl"

    @property
    def merge_audit(self) -> Path:
        """The audit of merges."""
        return self.logs / "merge-audit.jsonl"

    def changelog(self, day: date) -> Path:
        """Return the changelog of a local day."""
        return self.logs / f"{day.isoformat()}.md"

    @property
    def backups(self) -> Path:
        """Exports, nightly and labelled."""
        return self.path / "backups"

    @property
    def archive(self) -> Path:
        """Compressed copies of the transcripts read."""
        return self.path / "archive"

    @property
    def forgetting(self) -> Path:
        """There, and empty, from when something is being forgotten until nothing of it is left."""
        return self.path / "forgetting.mark"

    @property
    def lock(self) -> Path:
        """Held by the one daemon of this home."""
        return self.path / "daemon.lock"

    @property
    def daemon_state(self) -> Path:
        """Which daemon took the home last; it has it while the lock is held."""
        return self.path / "daemon.json"

    @property
    def socket(self) -> Path:
        """The daemon's socket: in the home, or in a private folder of `/tmp` where that path is too long for one."""
        path = self.path / "daemon.sock"
        if len(os.fsencode(path)) <= _LONGEST_SOCKET:
            return path
        name = sha256(os.fsencode(self.path)).hexdigest()[:16]
        # Not $TMPDIR: the daemon and its clients must agree on it, and service managers set their own.
        return Path("/tmp") / f"graph-memory-{os.geteuid()}" / f"{name}.sock"  # noqa: S108 - see ensure()

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders in the home, each after the one it lies in."""
        queue = (self.inbox, self.pending, self.processing, self.completed, self.failed)
        return (*queue, self.logs, self.backups, self.archive)

    def ensure(self) -> None:
        """Make the folders that are missing, 0700, and close the home itself to others; idempotent.

        Raises `ConfigError` where a folder can't be made, is something else, or belongs to another user.
        """
        _make_private(self.path)
        for folder in self.folders:
            _make(folder)
        self.ensure_socket_folder()

    def ensure_socket_folder(self) -> None:
        """Make the folder of the socket, 0700, where that is not the home itself; idempotent.

        Raises `ConfigError` where it can't be made, is a link, or belongs to another user.
        """
        if self.socket.parent != self.path:
            if self.socket.parent.is_symlink():
                raise ConfigError(f"{self.socket.parent} is a link somebody made; remove it")
            _make_private(self.socket.parent)

    def refuse_network_filesystem(self) -> None:
        """Raise `ConfigError`, with the ways out, where the home lies on a network file system.

        Several processes share the SQLite store through memory that only one machine has.
        """
        mount = find_network_mount(self.path)
        if mount is not None:
            raise ConfigError(
                f"{self.path} is on a network file system ({mount.kind}, mounted at {mount.point}). The SQLite store "
                "needs a local disk: choose another folder with GRAPH_MEMORY_HOME."
            )

    def find_store(self) -> StoreIdentity | None:
        """Read which store this home belongs to; `None` before anything was stored.

        Raises `StoreMismatch` where that can't be read: guessing could split the memory in two.
        """
        try:
            written = json.loads(self.store_file.read_bytes())
            return StoreIdentity(kind=str(written["kind"]), database_id=str(written["database_id"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            raise StoreMismatch(
                f"{self.store_file} doesn't say which store this home belongs to. Restore it, or delete it to have "
                "it written anew for the store that is configured now."
            ) from None

    def check_kind(self, kind: str) -> None:
        """Raise `StoreMismatch` where the home belongs to a store of another kind; call it before opening one."""
        found = self.find_store()
        if found is not None and found.kind != kind:
            raise StoreMismatch(
                f"{self.path} keeps its memory in {_named(found.kind)}, and {_named(kind)} is configured. To stay: "
                f"GRAPH_MEMORY_STORE={found.kind}. To move: `graph-memory export` there and `graph-memory import` in "
                "another GRAPH_MEMORY_HOME."
            )

    def claim_store(self, identity: StoreIdentity) -> None:
        """Write which store this home belongs to, or check that it is this one; safe in several processes at once.

        Raises `StoreMismatch` where the home belongs to another database.
        """
        if self.find_store() is None:
            write_new(self.store_file, json.dumps(asdict(identity), indent=2).encode() + b"\n")
        self.check_kind(identity.kind)
        found = self.find_store()
        if found is not None and found.database_id != identity.database_id:
            raise StoreMismatch(
                f"{self.path} belongs to another {_named(identity.kind)} database ({found.database_id}) than the one "
                f"configured ({identity.database_id}). Point it back, choose another GRAPH_MEMORY_HOME, or delete "
                f"{self.store_file.name} if the old database is gone for good."
            )

    def replace_store(self, identity: StoreIdentity) -> None:
        """Make this home belong to another store; for whoever has just moved its content there."""
        put_file(self.store_file, json.dumps(asdict(identity), indent=2).encode() + b"\n")


def use_private_umask() -> None:
    """Make everything this process creates private to its owner: SQLite's files, logs, sockets; roots call it first."""
    os.umask(_OTHERS)


def write_new(path: Path, content: bytes) -> bool:
    """Create a 0600 file with its whole content at once; `False`, and nothing done, where there is one."""
    beside = path.with_name(f".{path.name}.{token_hex(8)}.tmp")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        try:
            os.link(beside, path)
        except FileExistsError:
            return False
        sync_folder(path.parent)
        return True
    finally:
        beside.unlink(missing_ok=True)


def _named(kind: str) -> str:
    return _STORE_NAMES.get(kind, kind)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=_FOLDER, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder} can't be made: {error.strerror}") from error


def _make_private(folder: Path) -> None:
    """Make a folder, or take the one that is there, and close it to others."""
    for missing in reversed([folder, *folder.parents]):
        if not missing.exists():
            _make(missing)
    status = folder.stat() if folder.is_dir() else None
    if status is None:
        raise ConfigError(f"{folder} is no folder")
    if status.st_uid != os.geteuid():
        raise ConfigError(f"{folder} belongs to another user; choose another folder with GRAPH_MEMORY_HOME")
    if stat.S_IMODE(status.st_mode) & _OTHERS:
        folder.chmod(_FOLDER)
