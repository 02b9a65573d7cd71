"""Transcripts: what graph_read_transcript returns and what learning makes of them."""

from tests.spec.model import Requirement, required, ruling, seed_graph

READ = seed_graph("graph_read_transcript")
RULING = ruling("Rulings on the graph family: graph_read_transcript")
OTHERWISE = ruling("Where nothing else is said")
MEMARGS = ruling("The memory family: arguments")

REQUIREMENTS: tuple[Requirement, ...] = (
    # graph_read_transcript
    required(
        "graph_read_transcript.session_id",
        READ,
        "`session_id` is resolved to the file of that name anywhere below the projects folder.",
    ),
    required("graph_read_transcript.file_path", READ, "`file_path` names the file itself."),
    required("graph_read_transcript.one-of-two", READ, "Neither or both of the two is refused."),
    required(
        "graph_read_transcript.session-id-is-data",
        READ,
        "A `session_id` with path parts or wildcards reaches no other file; it is not found.",
    ),
    required(
        "graph_read_transcript.missing",
        READ,
        "A session or file that is not there is an error, never an empty success.",
    ),
    required(
        "graph_read_transcript.message-fields",
        READ,
        "Each message has role, text, timestamp, session_id and cwd.",
    ),
    required("graph_read_transcript.result", READ, "The reply has messages, message_count, session_id and cwd."),
    required("graph_read_transcript.roles", RULING, "Roles are `human` and `assistant` and no others."),
    required(
        "graph_read_transcript.text_only.default",
        READ,
        "`text_only` is true by default: tool calls and their results are left out.",
    ),
    required("graph_read_transcript.text_only.false", READ, "`text_only: false` shows tool calls and results too."),
    required(
        "graph_read_transcript.offset",
        RULING,
        "`offset` counts messages from the start; paging by `next_offset` yields every message once, in order.",
    ),
    required(
        "graph_read_transcript.limit",
        RULING,
        "`limit` is 200 messages by default; when more follow, `next_offset` says where, and at the end it is absent.",
    ),
    required("graph_read_transcript.sidechains.default", RULING, "Messages of sidechains are left out by default."),
    required(
        "graph_read_transcript.sidechains.labelled",
        RULING,
        "`include_sidechains: true` returns them, each labelled as such.",
    ),
    required(
        "graph_read_transcript.skipped",
        RULING,
        "Unparsable lines are left out and counted; all good lines before and after are returned.",
    ),
    required(
        "graph_read_transcript.format-warnings",
        RULING,
        "Unknown line types and wrong shapes are counted as format warnings, never an error.",
    ),
    required(
        "graph_read_transcript.human.typed",
        RULING,
        "Only what somebody typed is `human`: a user line that carries a tool result is not.",
    ),
    required(
        "graph_read_transcript.human.not-meta",
        RULING,
        "Meta lines, compaction summaries and lines shown in the transcript alone are no human messages.",
    ),
    required(
        "graph_read_transcript.human.not-commands",
        RULING,
        "Command, shell and task-notification lines, the local-command caveat and interruption marks are no human "
        "messages.",
    ),
    required(
        "graph_read_transcript.human.reminders",
        RULING,
        "A system reminder inside typed text is cut out and the typed rest kept; a line of nothing else is no message.",
    ),
    required(
        "graph_read_transcript.human.expected-counts",
        RULING,
        "For every sample transcript the number of human messages is the one its expectation file states.",
    ),
    required(
        "graph_read_transcript.assistant.joined",
        RULING,
        "Lines of one assistant message (one `message.id`) are one message.",
    ),
    required(
        "graph_read_transcript.file-order",
        READ,
        "Messages come in the order of the conversation even where timestamps run backwards.",
    ),
    required(
        "graph_read_transcript.encodings",
        READ,
        "CRLF, byte-order marks, invalid UTF-8, lone surrogates and Unicode line separators inside a string neither "
        "fail nor split a record.",
    ),
    required(
        "graph_read_transcript.partial-last-line",
        READ,
        "A last line still being written is not an error; what precedes it is returned.",
    ),
    required("graph_read_transcript.huge-lines", READ, "Lines of many megabytes are read."),
    required(
        "graph_read_transcript.empty",
        READ,
        "An empty file, or one of summaries and snapshots alone, has no messages and is no error.",
    ),
    # turns
    required(
        "transcripts.turn.extent",
        OTHERWISE,
        "One human prompt together with every assistant text until the next prompt is a turn, and one memory.",
    ),
    required(
        "transcripts.turn.key",
        OTHERWISE,
        "A turn's key is its prompt's text and timestamp; ids of lines or sessions take no part.",
    ),
    required(
        "transcripts.turn.assistant-key",
        OTHERWISE,
        "What the assistant wrote is recognised by `message.id` and `uuid`: a part seen before is not added again.",
    ),
    required(
        "transcripts.turn.at-once",
        OTHERWISE,
        "A prompt alone is stored already, before any answer to it exists.",
    ),
    required(
        "transcripts.turn.grows",
        OTHERWISE,
        "Answer text that arrives later extends that memory; no second one is made.",
    ),
    required(
        "transcripts.turn.resumed",
        OTHERWISE,
        "Turns that a resumed or forked session replays with fresh ids add nothing.",
    ),
    required(
        "transcripts.turn.abandoned",
        OTHERWISE,
        "What a rewind left behind (messages outside the last leaf's chain) is stored too, marked `abandoned: true`; "
        "messages on the chain are not so marked.",
    ),
    required(
        "transcripts.turn.broken-chain",
        OTHERWISE,
        "A parent that was never written, or a cycle of parents, loses no message.",
    ),
    required(
        "transcripts.queued.human",
        OTHERWISE,
        "Text found nowhere but in a `queue-operation` of kind enqueue, or in a `queued_command`, counts as typed by "
        "the human.",
    ),
    required(
        "transcripts.queued.repeated",
        OTHERWISE,
        "When that text comes again in a later line, there is one message and not two.",
    ),
    required(
        "transcripts.sequence",
        MEMARGS,
        "Neighbouring turns of one conversation are joined by a `sequence` synapse.",
    ),
    required(
        "transcripts.session-entity",
        OTHERWISE,
        "The session becomes an entity that its turns' mentions start from.",
    ),
    required(
        "transcripts.project-entity",
        OTHERWISE,
        "The project becomes an entity of type Project that carries its path.",
    ),
    required(
        "transcripts.project.git-root",
        OTHERWISE,
        "The `project_id` of a turn is the folder name of the git repository around its `cwd`; the projects folder's "
        "slug is never decoded.",
    ),
    required(
        "transcripts.project.no-git",
        OTHERWISE,
        "Where `cwd` lies in no repository or no longer exists, the project follows from `cwd` alone and learning "
        "goes on.",
    ),
    required("transcripts.project.worktrees", OTHERWISE, "A worktree counts as the repository it belongs to."),
    required(
        "transcripts.project.clash",
        OTHERWISE,
        "Two roots with one base name are two projects; the second gets a suffix from a hash of its path.",
    ),
    required(
        "transcripts.memory.defaults",
        OTHERWISE,
        "A turn's memory is episodic, of category context, a milestone, from source import, and carries the session's"
        " id.",
    ),
    # reading on
    required(
        "transcripts.cursor.resumes",
        OTHERWISE,
        "Reading goes on where it ended: after a restart no line is learned twice and none is missed.",
    ),
    required(
        "transcripts.cursor.half-line",
        OTHERWISE,
        "A half-written last line is left for the next time and then read whole.",
    ),
    required(
        "transcripts.cursor.replaced",
        OTHERWISE,
        "A file that was truncated or replaced is read again from its start without doubling what is known.",
    ),
    required(
        "transcripts.first-run.ninety-days",
        OTHERWISE,
        "When nobody was asked, the first run takes transcripts of the last 90 days and leaves older ones.",
    ),
    required(
        "transcripts.first-run.by-mtime",
        OTHERWISE,
        "Whether a file is recent enough for the first run is read off its modification time, not its contents.",
    ),
)
