"""This product's own work, which must not be learned again: else every night remembers the last one's memories.

Two marks tell it. Text that we put into a conversation (a hook's, a briefing's) stands in a `<graph-memory …>` element;
the reader cuts it out, and a prompt that begins with one is ours altogether. And a session whose working directory lies
in the product's home is one of ours from end to end. Results of our tools are tool results, which are never read.
"""

from collections.abc import Iterable
from os.path import normpath
from pathlib import PurePath

OWN_TAG = "graph-memory"


def is_own_prompt(text: str) -> bool:
    """Tell whether a prompt was written by this product."""
    return text.lstrip().startswith(f"<{OWN_TAG}")


def is_own_folder(cwd: str | None, homes: Iterable[PurePath]) -> bool:
    """Tell whether a session's working directory is one of the product's homes or lies in one.

    Paths are compared as they are written, so give each home both as configured and with its links resolved.
    """
    if not cwd:
        return False
    folder = PurePath(normpath(cwd))
    return any(folder.is_relative_to(home) for home in homes)
