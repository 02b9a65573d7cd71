"""Files that are learned where they lie: named by a person, neither moved nor copied."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graph_memory.domain.errors import NotFound
from ingest.documents import READABLE
from ingest.exclusions import Exclusions, Reason
from ingest.identity import document_path
from ingest.inbox import sidecar_of
from ingest.sidecars import is_sidecar
from ingest.transcripts.files import FileKind, kind_of

_TRANSCRIPT = ".jsonl"
_REFUSALS = {
    Reason.OWN: "it lies in this product's own folder; what waits in ingest/pending/ is learned by the daemon",
    Reason.FOLDER: "exclude.folders keeps its folder from being learned",
    Reason.NO_MEMORY: "a .no-memory file keeps its folder from being learned",
}


@dataclass(frozen=True, slots=True)
class FileInPlace:
    """A file to be learned; `name` is its whole path, which tells it from all others. `refusal`: why it is not."""

    path: Path
    name: str
    is_transcript: bool = False
    sidecar: Path | None = None
    refusal: str | None = None


def files_below(path: Path, exclusions: Exclusions) -> Iterator[FileInPlace]:
    """Yield the file that is named, else those below a folder that can be read, by path.

    Below a folder hidden files, links, sidecars and kinds that can't be read are passed by. A link that is named itself
    is followed: whoever names it means what it leads to.

    Raises:
        NotFound: nothing is there.
    """
    try:
        real = path.expanduser().resolve(strict=True)
        status = real.stat()
    except (OSError, RuntimeError):
        raise NotFound(f"there is nothing at {path}") from None
    if not stat.S_ISDIR(status.st_mode):
        yield _file(real, exclusions)
        return
    for folder, folders, names in os.walk(real):
        folders[:] = sorted(it for it in folders if not it.startswith("."))
        for name in sorted(names):
            file = Path(folder, name)
            if _is_wanted(file):
                yield _file(file, exclusions)


def _is_wanted(file: Path) -> bool:
    if file.name.startswith(".") or is_sidecar(file.name) or file.is_symlink() or not file.is_file():
        return False
    if file.suffix == _TRANSCRIPT:
        return kind_of(file)[0] is FileKind.SESSION
    return file.suffix.lower() in READABLE


def _file(file: Path, exclusions: Exclusions) -> FileInPlace:
    name = document_path(file)
    reason = exclusions.of_folder(str(file.parent))
    if reason is not None:
        return FileInPlace(file, name, refusal=_REFUSALS[reason])
    if file.suffix == _TRANSCRIPT:
        return FileInPlace(file, name, is_transcript=True)
    sidecar = sidecar_of(file)
    return FileInPlace(file, name, sidecar=sidecar if sidecar.is_file() else None)
