"""What lies in the home beside the store and holds words of a source: documents in the inbox, archived transcripts."""

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from graph_memory.domain.errors import Unavailable
from graph_memory.domain.forgetting import CopyCounts, ErasedSource, Reach
from graph_memory.domain.ledger import ORIGIN
from graph_memory.home import Home, write_new
from ingest.archive import Archive
from ingest.identity import content_key, document_path
from ingest.inbox import REASON_SUFFIX, below_worker, document_of, reason_of, sidecar_of
from ingest.sidecars import Sidecar, is_sidecar, read_sidecar

_KEY_MARK = 9
"""Characters that a settled document's name has more, where one of its name was there: `-` and eight digits."""


class HomeCopies:
    """The files of a home; `mask_audit` makes ids unreadable in its audit and returns in how many events."""

    def __init__(self, home: Home, mask_audit: Callable[[Collection[str]], int]) -> None:
        self._home, self._mask_audit = home, mask_audit
        self._archive = Archive(home.archive)

    def waiting_keys(self, reach: Reach) -> frozenset[str]:
        """Read which contents wait, or failed, of what is to be forgotten."""
        source = ErasedSource(
            file=reach.source_file,
            sessions=frozenset() if reach.source_session is None else frozenset({reach.source_session}),
            project=reach.project,
        )
        if source == ErasedSource():
            return frozenset()
        files = (it.file for it in self._queued() if _is_named(it, source) and not is_sidecar(it.file.name))
        return frozenset(key for it in files if (key := _key_of(it)) is not None)

    def count(self, source: ErasedSource) -> CopyCounts:
        """Count the documents of the inbox and the files of the archive."""
        inbox = sum(1 for it in self._queued() if _is_meant(it, source))
        abouts = self._archive.abouts().values()
        archive = sum(
            about.session in source.sessions
            or not source.sessions.isdisjoint(about.sessions)
            or not source.turns.isdisjoint(about.turns)
            for about in abouts
        )
        return CopyCounts(inbox, archive)

    def erase(self, source: ErasedSource) -> CopyCounts:
        """Remove the documents with their sidecars and reasons, the archived transcripts, and the ids in the audit.

        Raises:
            Unavailable: a file can't be removed or changed, or another process holds it.
        """
        inbox = 0
        for queued in list(self._queued()):
            if _is_meant(queued, source):
                _remove(queued)
                inbox += 1
        self._remove_empty_folders(source.paths if source.file is None else {*source.paths, source.file})
        archive = self._archive.erase(source.sessions) if source.sessions else 0
        archive += self._archive.erase_turns(source.turns) if source.turns else 0
        return CopyCounts(inbox, archive, self._mask_audit(source.names))

    def begin(self) -> None:
        """Leave the mark."""
        write_new(self._home.forgetting, b"")

    def is_begun(self) -> bool:
        """Tell whether the mark is there."""
        return self._home.forgetting.exists()

    def finish(self) -> None:
        """Take the mark away."""
        self._home.forgetting.unlink(missing_ok=True)

    def _remove_empty_folders(self, paths: Collection[str]) -> None:
        """Remove the folders that documents of these paths left empty: their names may tell of them."""
        for path in map(Path, paths):
            if path.is_absolute() or ".." in path.parts:
                continue
            for folder in self._folders:
                for parent in list((folder / path).parents)[: len(path.parts) - 1]:
                    with suppress(OSError):
                        parent.rmdir()

    @property
    def _folders(self) -> tuple[Path, ...]:
        """The folders of the inbox, in the order in which documents move."""
        home = self._home
        return home.pending, home.processing, home.completed, home.failed

    def _queued(self) -> Iterator["_Queued"]:
        """List what lies in the inbox, folder by folder in the order in which documents move."""
        home = self._home
        for folder in self._folders:
            is_settled = folder in (home.completed, home.failed)
            for file in _files_below(folder):
                relative = file.relative_to(folder)
                inner = below_worker(relative) if folder == home.processing else relative
                yield _Queued(folder, file, document_path(inner), is_settled)


@dataclass(frozen=True, slots=True)
class _Queued:
    """A document in a folder of the inbox, or a sidecar without one; `path` is what the ledger calls it."""

    folder: Path
    file: Path
    path: str
    is_settled: bool

    @property
    def spellings(self) -> frozenset[str]:
        """What the ledger may call it: in `completed/` and `failed/` a name may have got a part of the key."""
        document = self.path.removesuffix(REASON_SUFFIX)
        document = document_path(document_of(Path(document))) if is_sidecar(document) else document
        pure = Path(document)
        if self.is_settled and len(pure.stem) > _KEY_MARK and pure.stem[-_KEY_MARK] == "-":
            return frozenset({document, document_path(pure.with_name(pure.stem[:-_KEY_MARK] + pure.suffix))})
        return frozenset({document})

    def sidecar(self) -> Sidecar:
        """Read what is said of it."""
        file = self.file if is_sidecar(self.file.name) else sidecar_of(self.file)
        return read_sidecar(file) if file.is_file() and not file.is_symlink() else Sidecar()


def _is_named(queued: _Queued, source: ErasedSource) -> bool:
    """Tell whether a document is one that the source names: by its path, or by what its sidecar says."""
    if source.file is not None and source.file in queued.spellings:
        return True
    if source.file is None and not source.sessions and source.project is None:
        return False
    said = queued.sidecar()
    return (
        (source.file is not None and said.values.get(ORIGIN) == source.file)
        or said.session_id in source.sessions
        or (source.project is not None and said.project_id == source.project)
    )


def _is_meant(queued: _Queued, source: ErasedSource) -> bool:
    if queued.is_settled and not source.paths.isdisjoint(queued.spellings):
        return True
    if _is_named(queued, source):
        return True
    with suppress(OSError):
        if queued.file.stat().st_size in source.documents.values():
            return _key_of(queued.file) in source.documents
    return False


def _key_of(file: Path) -> str | None:
    try:
        return content_key(file.read_bytes())
    except OSError:
        return None


def _files_below(folder: Path) -> Iterator[Path]:
    """List documents, and sidecars without one; links are none."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            file = Path(parent, name)
            if name.startswith(".") or file.is_symlink() or not file.is_file():
                continue
            if name.endswith(REASON_SUFFIX) and file.with_name(name.removesuffix(REASON_SUFFIX)).exists():
                continue
            if not (is_sidecar(name) and document_of(file).exists()):
                yield file


def _remove(queued: _Queued) -> None:
    """Remove a document, what lies beside it, and the folders that are empty then."""
    try:
        # The document last: while it is there, all of it is found again.
        for file in (sidecar_of(queued.file), reason_of(queued.file), queued.file):
            file.unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable(f"{queued.file.name} can't be removed: {error.strerror}") from error
    for parent in queued.file.parents:
        if parent == queued.folder:
            break
        with suppress(OSError):
            parent.rmdir()
