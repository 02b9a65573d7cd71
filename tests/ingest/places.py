"""A home with what belongs to it, and a clock that is moved by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph_memory.config.settings import Ingest
    from graph_memory.home import Home

NOON = datetime(2026, 4, 6, 12, 0, tzinfo=UTC)


@dataclass
class Clock:
    """Wall clock and monotonic clock in one; both stand until they are moved."""

    at: datetime = NOON
    seconds: float = 0.0

    def __call__(self) -> datetime:
        self.at += timedelta(microseconds=1)
        return self.at

    def monotonic(self) -> float:
        return self.seconds

    def wait(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)
        self.seconds += seconds


@dataclass
class Place:
    """A home with what belongs to it."""

    home: Home
    ingest: Ingest
    clock: Clock = field(default_factory=Clock)

    def drop(self, path: str, content: str | bytes) -> Path:
        """Put a file into `pending/` as any program would."""
        file = self.home.pending / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def files(self, folder: Path) -> list[str]:
        """List what lies below a folder, hidden files aside."""
        names = (str(it.relative_to(folder)) for it in folder.rglob("*") if not it.is_dir())
        return sorted(name for name in names if not any(part.startswith(".") for part in Path(name).parts))
