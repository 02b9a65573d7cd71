"""The errors of the product.

    GraphMemoryError
    ├── InvalidRequest      the caller can mend it: what was wrong, with which argument, what to do
    │   └── Ambiguous       several things match; carries the candidates
    ├── NotFound            nothing has that id or name
    ├── Conflict            it exists already, or two writes can't both hold
    ├── Unavailable         the store or a part can't be reached; trying again later may help
    │   ├── StoreBusy       another process held the store for longer than the deadline
    │   └── StoreChanged    the store was upgraded, replaced or removed under this process, which is to be restarted
    ├── QueryTimeout        a query ran longer than it may
    ├── ConfigError         the settings or the home folder can't be used as they are
    │   └── StoreMismatch   the database is newer than the program, or not the one of this home
    │       └── StoreDamaged    it can't be read, or not as a database
    └── IngestError         a document can't be learned; its text is the reason shown to the user

Adapters translate their driver's exceptions into these; nothing outside an adapter sees a driver's own.
"""


class GraphMemoryError(Exception):
    """Anything this product raises on purpose; the text is meant for a person."""


class InvalidRequest(GraphMemoryError):
    """A request that the caller can mend.

    `argument` names the argument at fault, or is empty where none alone is.
    """

    def __init__(self, message: str, *, argument: str = "") -> None:
        super().__init__(message)
        self.argument = argument


class Ambiguous(InvalidRequest):
    """A name that several things have; `candidates` are their ids with types."""

    def __init__(self, message: str, *, argument: str = "", candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message, argument=argument)
        self.candidates = candidates


class NotFound(GraphMemoryError):
    """Nothing has that id or name; the text says what to call instead."""


class Conflict(GraphMemoryError):
    """What was to be added exists; `existing_id` names it where it is known."""

    def __init__(self, message: str, *, existing_id: int | str | None = None) -> None:
        super().__init__(message)
        self.existing_id = existing_id


class Unavailable(GraphMemoryError):
    """The store, or a part that was asked for, can't be reached now."""


class StoreBusy(Unavailable):
    """Another process held the store for longer than the deadline; nothing was written."""


class StoreChanged(Unavailable):
    """The store was upgraded, replaced or removed since this process opened it; only a new process can use it."""


class QueryTimeout(GraphMemoryError):
    """A query ran longer than it may and was stopped."""


class ConfigError(GraphMemoryError):
    """The settings or the home folder can't be used as they are."""


class StoreMismatch(ConfigError):
    """The database is newer than this program, damaged, or not the one this home names."""


class StoreDamaged(StoreMismatch):
    """The database can't be read, or not as a database; a backup can be restored."""


class IngestError(GraphMemoryError):
    """A document can't be learned; the text is the reason that stands beside it in `failed/`."""
