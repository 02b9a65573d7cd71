"""One archived transcript: compressed frames that any zstd program reads, and behind them what they are of.

A file is replaced as a whole and never written into, so whenever a process dies there is the old one or the new one.
To make that cheap, frames of a mebibyte are sealed: adding lines copies those as they are and compresses anew only the
last one, so that a transcript that grew by a few lines a hundred times is as small as one that came at once.
"""

import fcntl
import os
import struct
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, cast

import orjson

from graph_memory.domain.errors import IngestError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FRAME_BYTES = 1 << 20
PARTIAL = ".tmp"
DAMAGE = (zstd.ZstdError, EOFError)
"""What reading the lines of a damaged file raises, beside the errors of the system."""
_OPTIONS: Mapping[int, int] = {
    zstd.CompressionParameter.compression_level: 3,
    zstd.CompressionParameter.checksum_flag: 1,
}
_PIECE = 1 << 18
_SKIPPABLE = 0x184D2A5E
"""What begins a frame that every reader of zstd passes over."""
_HEAD = struct.Struct("<II")
_TAIL = struct.Struct("<I4s")
_MARK = b"GMA1"
_FILE = 0o600


@dataclass(frozen=True, slots=True)
class About:
    """What an archived file is of; it holds ids and figures, and no text.

    `offset` is how far the transcript was taken, in its own bytes, and `fingerprint` which one it was. `size` counts
    the bytes of the lines kept, `sealed_size` those in sealed frames, `sealed` what these take compressed. `turns` are
    the keys of what a person said in it, `sessions` the others whose words it repeats, `redacted` counts the secrets
    that were taken out.
    """

    session: str
    offset: int = 0
    fingerprint: str = ""
    size: int = 0
    sealed_size: int = 0
    sealed: int = 0
    redacted: int = 0
    turns: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()


def find_about(path: Path) -> About | None:
    """Read what an archived file is of; `None` where it is gone, damaged or none of ours."""
    try:
        with path.open("rb") as file:
            file.seek(-_TAIL.size, os.SEEK_END)
            length, mark = _TAIL.unpack(file.read(_TAIL.size))
            if mark != _MARK:
                return None
            file.seek(-_TAIL.size - length, os.SEEK_END)
            written = orjson.loads(file.read(length))
        return About(**{**written, **{it: tuple(written[it]) for it in ("turns", "sessions")}})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def open_archived(path: Path) -> BinaryIO:
    """Open an archived file for reading its lines, which may raise `DAMAGE`.

    Raises:
        OSError: it can't be opened.
    """
    return cast("BinaryIO", zstd.ZstdFile(path))


def write_beside(
    path: Path, old: About | None, about: Callable[[], About], lines: Iterable[bytes], *, modified_ns: int
) -> Path:
    """Write, beside an archived file, what is to replace it: what `old` says is there, then `lines`; durable.

    `about` is asked in the end what it is of; sizes are found out here. `modified_ns` becomes the file's time.

    Raises:
        IngestError: what is there is damaged.
        OSError: it can't be written.
    """
    beside = path.with_name(f".{path.name}.{token_hex(4)}{PARTIAL}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            fcntl.flock(descriptor, fcntl.LOCK_SH)  # so that nobody takes it for a dead one's
            pack = _Pack(file)
            if old is not None:
                _take_over(pack, path, old)
            for line in lines:
                pack.add(line)
            pack.finish(about())
            file.flush()
            os.fsync(descriptor)
        os.utime(beside, ns=(modified_ns, modified_ns))
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
    return beside


def remove_partial(folder: Path) -> int:
    """Remove what writers that died left in a folder; count it."""
    count = 0
    for partial_file in folder.glob(f".*{PARTIAL}"):
        with suppress(OSError):
            descriptor = os.open(partial_file, os.O_RDONLY | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                partial_file.unlink()
                count += 1
            finally:
                os.close(descriptor)
    return count


def _take_over(pack: "_Pack", path: Path, old: About) -> None:
    """Copy the sealed frames of a file, and add what else it holds."""
    try:
        with path.open("rb") as source:
            pack.copy(source, old)
            with zstd.ZstdFile(source) as rest:
                for piece in iter(partial(rest.read, _PIECE), b""):
                    pack.add(piece)
    except DAMAGE as error:
        raise IngestError(f"{path.name} is damaged: {error}") from error
    if pack.size != old.size:
        raise IngestError(f"{path.name} is damaged: it holds {pack.size:,} bytes of {old.size:,}")


class _Pack:
    """Writes frames; each is sealed once it holds a mebibyte."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._compressor = zstd.ZstdCompressor(options=_OPTIONS)
        self._written = self._sealed = self._sealed_size = 0
        self.size = 0

    def copy(self, source: BinaryIO, about: About) -> None:
        """Take over the sealed frames that a file begins with, as they are."""
        while piece := source.read(min(_PIECE, about.sealed - self._written)):
            self._put(piece)
        self._sealed = self._written
        self.size = self._sealed_size = about.sealed_size

    def add(self, data: bytes) -> None:
        """Add bytes to the last frame."""
        self._put(self._compressor.compress(data))
        self.size += len(data)
        if self.size - self._sealed_size >= FRAME_BYTES:
            self._end_frame()

    def finish(self, about: About) -> None:
        """End the last frame and write what the file is of."""
        sealed, sealed_size = self._sealed, self._sealed_size
        if self.size > sealed_size:
            self._end_frame()
        text = orjson.dumps(asdict(replace(about, size=self.size, sealed=sealed, sealed_size=sealed_size)))
        self._put(_HEAD.pack(_SKIPPABLE, len(text) + _TAIL.size) + text + _TAIL.pack(len(text), _MARK))

    def _end_frame(self) -> None:
        self._put(self._compressor.flush())
        self._compressor = zstd.ZstdCompressor(options=_OPTIONS)
        self._sealed, self._sealed_size = self._written, self.size

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._written += len(data)
