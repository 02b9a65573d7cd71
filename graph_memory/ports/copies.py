"""What lies beside the store and holds words of what was learned: queued documents, archived transcripts, the audit."""

from typing import Protocol

from graph_memory.domain.forgetting import CopyCounts, ErasedSource, Reach


class Copies(Protocol):
    """The files of one home; its owner's alone."""

    def waiting_keys(self, reach: Reach) -> frozenset[str]:
        """Return the content keys of documents that wait, or failed, and are of what is to be forgotten."""

    def count(self, source: ErasedSource) -> CopyCounts:
        """Count what `erase` would remove or change."""

    def erase(self, source: ErasedSource) -> CopyCounts:
        """Remove every copy, and the ids from the audit; safe to do again.

        Raises:
            Unavailable: a file can't be removed or changed, or another process holds it.
        """

    def begin(self) -> None:
        """Leave a mark that outlives this process: something is being forgotten."""

    def is_begun(self) -> bool:
        """Tell whether the mark is there: a forgetting was not finished."""

    def finish(self) -> None:
        """Take the mark away."""
