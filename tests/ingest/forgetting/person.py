"""Somebody who learns, backs up, archives and forgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graph_memory.adapters.files.audit_log import AuditLog
from graph_memory.adapters.files.backup_folder import BackupFolder
from graph_memory.domain.forgetting import Reach
from graph_memory.domain.memory_policy import MemoryPolicy
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.principal import LOCAL_ADMIN
from graph_memory.services.audit import Audit
from graph_memory.services.backup import Backup, every_row
from graph_memory.services.forget import Forget
from graph_memory.services.relate import Relate
from graph_memory.services.restore import Restore
from graph_memory.services.write import MemoryWrite
from ingest.archiving import TranscriptArchiver
from ingest.forgotten_files import HomeCopies
from tests.ingest.learners import Learner
from tests.ingest.transcript_files import Transcript
from tests.traces import words_in

if TYPE_CHECKING:
    from graph_memory.domain.backups import BackupRow
    from graph_memory.ports.store import Store
    from graph_memory.services.forget import Forgetting
    from tests.ingest.places import Place


SECRET, PLAIN = "aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002"


WORDS = ("quokka", "zygomorph", "xylophon", "tangelo")


class Person:
    """Somebody with a home, who learns, backs up, archives and forgets."""

    def __init__(self, store: Store, place: Place) -> None:
        self.store, self.place, self.learner = store, place, Learner(store, place)
        self.backups = BackupFolder(place.home.backups)
        self.audit = Audit(store, place.clock, AuditLog(place.home.dream_audit, max_bytes=1_000_000, keep=3))
        self.copies = HomeCopies(place.home, self.audit.mask)
        policy = GraphPolicy()
        self.backup = Backup(store, place.clock, self.backups, policy)
        self.restore = Restore(store, place.clock, self.backups, policy)
        self.relate = Relate(store, place.clock, policy)
        self.write = MemoryWrite(store, place.clock, MemoryPolicy(), policy)
        self.forget = Forget(store, place.clock, policy, self.backups, self.copies)

    def transcript(self, session: str = SECRET, folder: str = "-nowhere-app", cwd: str = "/nowhere/app") -> Transcript:
        file = self.place.ingest.projects_dirs[0] / folder / f"{session}.jsonl"
        return Transcript(file, session, cwd)

    def archive(self) -> None:
        TranscriptArchiver(self.store, LOCAL_ADMIN, self.place.home, self.learner.settings, pause=lambda _: None).run()

    def keep_all(self) -> str:
        """Learn, archive, write the audit and back up; return the backup."""
        self.learner.learn()
        self.archive()
        self.audit.drain(LOCAL_ADMIN)
        self.place.clock.wait(1)
        return self.backup.export(LOCAL_ADMIN, keep=99).file.path

    def forgets(self, **reach: object) -> Forgetting:
        self.place.clock.wait(1)
        done = self.forget.execute(LOCAL_ADMIN, Reach(**reach))  # type: ignore[arg-type]
        assert done.problems == ()
        self.audit.drain(LOCAL_ADMIN)
        return done

    def rows(self) -> list[BackupRow]:
        return self.store.read(LOCAL_ADMIN, lambda tx: list(every_row(tx)))

    def traces(self, words: tuple[str, ...] = WORDS) -> object:
        """Return where words are still found: in files, or in rows of a store without files."""
        rows = [it for it in self.rows() if any(word in repr(it).casefold() for word in words)]
        return words_in(self.place.home.path, words) or rows


def two_sessions(person: Person) -> None:
    """Let a secret session and a plain one be had, which share a tag."""
    secret = person.transcript()
    secret.say("The quokka plan uses src/zygomorph.py and #shared, see https://tangelo.example/x")
    secret.answer("Xylophones are noted.")
    secret.say("And once more about the quokka")
    plain = person.transcript(PLAIN)
    plain.say("Ordinary talk about src/plain.py and #shared")
    plain.answer("Fine.")
