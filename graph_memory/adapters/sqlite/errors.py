"""The driver's errors in our words."""

import apsw

from graph_memory.domain.errors import (
    Conflict,
    GraphMemoryError,
    InvalidRequest,
    QueryTimeout,
    StoreBusy,
    StoreDamaged,
    StoreMismatch,
    Unavailable,
)

_OURS: tuple[tuple[tuple[type[Exception], ...], type[GraphMemoryError], str], ...] = (
    ((apsw.BusyError, apsw.LockedError), StoreBusy, "another process has held the store for too long; try again"),
    ((apsw.ConstraintError,), Conflict, "two rows of the store can't both hold"),
    (
        (apsw.CorruptError, apsw.NotADBError, apsw.FormatError),
        StoreDamaged,
        "the database file is damaged or not a database; `graph-memory restore latest` sets it aside for a backup",
    ),
    ((apsw.FullError,), Unavailable, "the disk is full; nothing was written"),
    (
        (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError),
        Unavailable,
        "the database file can't be written; its folder and file must belong to the user who runs this",
    ),
    ((apsw.CantOpenError,), Unavailable, "the database file can't be opened; see that its folder exists and is yours"),
    ((apsw.NoMemError,), Unavailable, "there is not enough memory for this; nothing was written"),
    ((apsw.IOError,), Unavailable, "the disk could not be read or written; nothing was written"),
    ((apsw.InterruptError, apsw.AbortError), QueryTimeout, "the query ran longer than it may and was stopped"),
    ((apsw.TooBigError,), InvalidRequest, "a text is longer than the store can keep"),
    ((apsw.ConnectionClosedError, apsw.CursorClosedError), Unavailable, "the store is closed"),
    (
        (apsw.SQLError, apsw.SchemaChangeError),
        StoreMismatch,
        "the database lacks something this program needs; it was changed from outside",
    ),
)


def translated(error: Exception) -> GraphMemoryError:
    """Turn an error of the driver into one of ours; the driver's words follow where they help to find the cause.

    A busy file, a full disk and a lack of memory say nothing of the rows, a constraint names columns alone, so no
    stored text gets into a message.
    """
    if isinstance(error, UnicodeEncodeError):
        return InvalidRequest("a text holds half a character (a lone surrogate) and can't be stored")
    if isinstance(error, OverflowError):
        return InvalidRequest("a number is too large to be stored")
    for theirs, ours, words in _OURS:
        if isinstance(error, theirs):
            return ours(f"{words} ({error})" if ours is not StoreBusy else words)
    return Unavailable(f"the store could not do this ({type(error).__name__}: {error})")
