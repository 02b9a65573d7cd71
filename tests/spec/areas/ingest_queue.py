"""graph_ingest and the inbox: queueing, states, sidecars, cursors."""

from tests.spec.model import Requirement, required, ruling, seed_graph

INGEST = seed_graph("graph_ingest")
RULING = ruling("Rulings on the graph family: graph_ingest")
OTHERWISE = ruling("Where nothing else is said")
ALL = ruling("All tools")

REQUIREMENTS: tuple[Requirement, ...] = (
    # queueing
    required(
        "graph_ingest.action.values",
        INGEST,
        "`action` is queue or status; `process` and anything else is refused with the two.",
    ),
    required(
        "graph_ingest.queue.file_path",
        INGEST,
        "`file_path` copies a file of this machine into `ingest/pending/`; the original stays untouched.",
    ),
    required(
        "graph_ingest.queue.missing-file",
        INGEST,
        "A `file_path` that does not exist or is a folder is refused with the path; nothing is queued.",
    ),
    required(
        "graph_ingest.queue.content",
        INGEST,
        "`content` with `file_name` writes that text into `ingest/pending/` under that name.",
    ),
    required(
        "graph_ingest.queue.one-source",
        INGEST,
        "Neither or both of `file_path` and `content` is refused; so is `content` without `file_name`.",
    ),
    required(
        "graph_ingest.content.max-size",
        INGEST,
        "Inline content of 2 MB (2,097,152 bytes of UTF-8) is taken; one byte more is refused with the limit.",
    ),
    required(
        "graph_ingest.content.plain-basename",
        INGEST,
        "`file_name` must be a plain base name: with `/`, `\\`, `..`, a leading dot or a NUL it is refused.",
    ),
    required(
        "graph_ingest.content.extensions",
        INGEST,
        "`file_name` must end in .md, .txt or .json; anything else is refused with the three.",
    ),
    required(
        "graph_ingest.queue.no-overwrite",
        INGEST,
        "Queueing another document under a name that is waiting overwrites nothing: both are ingested.",
    ),
    required(
        "graph_ingest.queue.result",
        INGEST,
        "The reply has `action: queued`, `file`, `destination` (absolute) and `meta_written`.",
    ),
    required(
        "graph_ingest.queue.meta_written",
        INGEST,
        "`meta` is written as a sidecar beside the document and `meta_written` is true; without `meta` it is false "
        "and none is made.",
    ),
    required(
        "graph_ingest.meta.known-keys",
        INGEST,
        "`meta` takes source, author, date, topic_hints, weight_override, session_id, through and last_event_id.",
    ),
    required(
        "graph_ingest.meta.unknown-kept",
        RULING,
        "Keys of `meta` that are not known are kept with the document.",
    ),
    required(
        "graph_ingest.queue.already-known",
        RULING,
        "Queueing bytes that are already known answers `already_known` with the id of the first, and nothing is "
        "queued.",
    ),
    # status
    required(
        "graph_ingest.status.states",
        RULING,
        "`status` lists all four states: pending, processing, completed and failed.",
    ),
    required(
        "graph_ingest.status.pending-fields",
        INGEST,
        "Each pending item has `file`, `queued_at` and a readable `size` (`2.1 KB`).",
    ),
    required(
        "graph_ingest.status.completed-fields",
        INGEST,
        "`recently_completed` items have `file`, `processed_at`, `entities` and `edges`.",
    ),
    required(
        "graph_ingest.status.counts",
        INGEST,
        "`pending_count` and `completed_count` count all, whatever the lists show.",
    ),
    required("graph_ingest.status.failed-reason", RULING, "Each failed item has its reason."),
    required(
        "graph_ingest.failed.requeue",
        RULING,
        "A failed document can be queued again and is then taken up like a new one.",
    ),
    # the inbox
    required(
        "inbox.states",
        RULING,
        "A document goes from pending to processing and from there to completed or failed, by moving between the "
        "folders of those names.",
    ),
    required(
        "inbox.dropped-by-hand",
        OTHERWISE,
        "A file put into `ingest/pending/` by any program is ingested without a tool call.",
    ),
    required(
        "inbox.recursive",
        OTHERWISE,
        "`pending/` is read recursively; the path below it is part of what the document is: `a/n.md` and `b/n.md` are"
        " two.",
    ),
    required(
        "inbox.stable",
        OTHERWISE,
        "A file is taken only when it has not changed for one second: one still being copied is ingested once, whole.",
    ),
    required("inbox.key-raw-bytes", OTHERWISE, "A document's key is over its raw bytes, before decoding."),
    required(
        "inbox.same-bytes-once",
        RULING,
        "The same bytes dropped twice, under whatever names, make one set of memories.",
    ),
    required(
        "inbox.crash",
        ALL,
        "After a kill at any point a document is ingested once, when the daemon runs again; none is left in "
        "`processing/`.",
    ),
    required(
        "inbox.one-bad-file",
        RULING,
        "A document that can't be read goes to `failed/` with a reason and holds up no other.",
    ),
    required(
        "inbox.idempotent-write",
        RULING,
        "Ingesting a document again from the start changes nothing: no memory, relation, weight or mention is doubled.",
    ),
    # sidecars
    required(
        "sidecar.applied",
        INGEST,
        "What a sidecar says (source, author, date, hints, weight) is applied to its document.",
    ),
    required("sidecar.not-a-document", INGEST, "A sidecar is never ingested as a document of its own."),
    required(
        "sidecar.late",
        RULING,
        "A sidecar that comes after its document was ingested updates what the document became, without a second "
        "memory.",
    ),
    required("sidecar.broken", RULING, "An unreadable sidecar does not stop its document; it is reported."),
    required(
        "sidecar.weight_override",
        OTHERWISE,
        "`weight_override` is the weight of that document's relations and mentions, and of no others.",
    ),
    required(
        "sidecar.topic_hints",
        OTHERWISE,
        "Each of `topic_hints` becomes an entity that this document mentions.",
    ),
    required("sidecar.author", OTHERWISE, "A named author becomes a Person entity that the document mentions."),
    required("sidecar.date", INGEST, "`date` is the document's time of source."),
    # cursors
    required(
        "session_cursors.newest",
        INGEST,
        "`status` gives per cloud session `through`, `last_event_id` and `file` of the document with the newest "
        "`meta.through`.",
    ),
    required(
        "session_cursors.only-cloud",
        INGEST,
        "Only documents whose `meta.source` is `claude-code-cloud` count.",
    ),
    required("session_cursors.states", RULING, "Pending, processing, completed and already known documents count."),
    required(
        "session_cursors.not-failed",
        RULING,
        "A failed document no longer counts: the cursor falls back to the newest that did not fail, and the failed "
        "one stands in `failed` with its reason.",
    ),
    required(
        "session_cursors.in-store",
        RULING,
        "Cursors are kept in the store and outlive the clean-up of `completed/`.",
    ),
    required(
        "session_cursors.by-instant",
        INGEST,
        "Newest means the latest instant, not the greatest text: offsets and fractions are compared as moments.",
    ),
)
