"""Looking for words in every byte of every file of a home, however it is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.archived_file import DAMAGE, open_archived

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


def words_in(home: Path, words: Iterable[str]) -> dict[str, list[str]]:
    """Return, by file, which of these words its bytes or its path have; compressed files are read as what they hold.

    A text index keeps what stands before in a word apart, so give pieces of words that stand alone.
    """
    wanted = {word: word.casefold().encode() for word in words}
    found: dict[str, list[str]] = {}
    for file in sorted(home.rglob("*")):
        pieces = list(_contents(file)) if file.is_file() else []
        text = b"\0".join([str(file.relative_to(home)).encode(), *pieces]).lower()
        if has := [word for word, piece in wanted.items() if piece in text]:
            found[str(file.relative_to(home))] = has
    return found


def _contents(file: Path) -> Iterator[bytes]:
    yield file.read_bytes()
    if file.name.endswith(".zst"):
        try:
            with open_archived(file) as lines:
                yield lines.read()
        except DAMAGE as error:
            raise AssertionError(f"{file} can't be read") from error
