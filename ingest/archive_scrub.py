"""Today's rules of redaction over transcripts that were archived under older ones."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from graph_memory.domain.errors import IngestError
from graph_memory.log import get_logger
from ingest.archive import Archive
from ingest.archived_file import DAMAGE, About, open_archived, write_beside
from ingest.transcripts.redacted_lines import redacted_line

_LOG = get_logger("ingest.archive_scrub")


@dataclass(slots=True)
class ScrubbedArchive:
    """What scrubbing the archive came to, or would: files looked at, files with secrets, secrets; unreadable files."""

    looked_at: int = 0
    files: int = 0
    secrets: int = 0
    failed: int = 0


def scrub_archive(archive: Archive, *, dry_run: bool) -> ScrubbedArchive:
    """Write anew each archived file that holds a secret; with `dry_run` they are only counted.

    A file that the archive changes meanwhile is left for the next time: what came new was redacted by today's rules.

    Raises:
        Unavailable: another process holds the archive, or it can't be written.
    """
    done = ScrubbedArchive()
    for path, about in archive.abouts().items():
        try:
            count = _count(path)
            if count and not dry_run:
                _rewrite(archive, path, about, count)
        except (IngestError, *DAMAGE) as error:
            _LOG.warning("archived_file_unreadable", file=path.name, reason=type(error).__name__)
            done.failed += 1
            continue
        done.looked_at += 1
        done.files += count > 0
        done.secrets += count
    return done


def _count(path: Path) -> int:
    with open_archived(path) as lines:
        return sum(redacted_line(line)[1] for line in lines)


def _rewrite(archive: Archive, path: Path, about: About, count: int) -> None:
    cleaned = replace(about, redacted=about.redacted + count, size=0, sealed_size=0, sealed=0)
    beside = write_beside(path, None, lambda: cleaned, _redacted(path), modified_ns=path.stat().st_mtime_ns)
    archive.publish(beside, path, about, lambda: True)


def _redacted(path: Path) -> Iterator[bytes]:
    with open_archived(path) as lines:
        for line in lines:
            yield redacted_line(line)[0]
