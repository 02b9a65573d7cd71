"""Instants: how they are read, stored and shown, and when due decay is applied."""

from tests.spec.model import Requirement, Theme, deferred, required, ruling

TIME = ruling("Time")

REQUIREMENTS: tuple[Requirement, ...] = (
    required(
        "time.store.aware-utc",
        TIME,
        "Every instant that leaves a store is an aware UTC datetime; a naive one can't be put into it.",
    ),
    required("time.wire.iso-z", TIME, "Every instant in a reply is ISO-8601 ending in `Z`."),
    required(
        "time.offset.to-utc",
        TIME,
        "An instant given with an offset (`2026-03-01T10:00:00+02:00`) is kept and shown as the same moment in UTC "
        "(`08:00:00Z`).",
    ),
    required("time.date-only", TIME, "A date without a time means that day at 00:00:00Z, without a warning."),
    required(
        "time.naive.utc-with-warning",
        TIME,
        "An instant without an offset is taken as UTC, and the reply's `warnings` name the argument.",
    ),
    required(
        "time.unreadable.refused",
        TIME,
        "Text that is no instant is refused with the name of its argument; nothing is written.",
    ),
    required(
        "time.valid-at",
        TIME,
        "`valid_at` of a relation says since when it has been true: the caller's value as given.",
    ),
    required(
        "time.invalid-at",
        TIME,
        "`invalid_at` says when a relation stopped being true; it is null on a current one.",
    ),
    required("time.ingested-at", TIME, "`ingested_at` is the moment a fact was learned, whatever its `valid_at`."),
    required(
        "time.last-confirmed",
        TIME,
        "A relation's `last_confirmed` moves to the moment of each write that supports it.",
    ),
    required(
        "time.last-seen",
        TIME,
        "An entity's `last_seen` moves to the moment of each write that supports or mentions it.",
    ),
    required(
        "time.decayed-at",
        TIME,
        "`decayed_at` says up to which moment decay has been applied; a decay run sets it to the run's instant.",
    ),
    required(
        "time.decay-first.boost",
        TIME,
        "A boost first applies the decay due since `decayed_at`, then adds: `previous_weight` is the decayed weight.",
    ),
    required("time.decay-first.mention", TIME, "A mention first applies the decay due, then adds its 0.05."),
    required(
        "time.decay-first.relate",
        TIME,
        "Explicit evidence is compared with the old weight after the decay due, not with the stale number.",
    ),
    required("time.decay-first.weaken", TIME, "A weakening first applies the decay due, then subtracts."),
    deferred(
        "time.decay-first.merge",
        TIME,
        "A merge first brings both sides' values up to the moment of the merge.",
        Theme.GRAPH_FAMILY,
    ),
    required(
        "time.reads-use-stored",
        TIME,
        "Reading and filtering never apply decay: a weight last decayed long ago is shown and compared as stored.",
    ),
)
