"""What a person decides: what is never learned, when nothing is, what is taken out; and what bounds learning."""

from tests.spec.model import Requirement, design, required

INGEST = design("Ingest, without a language model")
DAEMON = design("The daemon")
LAYERS = design("Layers")

REQUIREMENTS: tuple[Requirement, ...] = (
    required(
        "exclude.obeyed",
        INGEST,
        "Excluded projects, folders, sessions and times are not learned; documents that say they are of one neither.",
    ),
    required("exclude.live", INGEST, "A running daemon obeys `graph-memory exclude` with the next thing it learns."),
    required("exclude.mark", INGEST, "An empty `.no-memory` file in a folder is obeyed from the moment it is there."),
    required(
        "exclude.keeps-the-file",
        INGEST,
        "The command changes its section of `config.json` and leaves the rest byte for byte; a file that it does not "
        "understand is left alone.",
    ),
    required("exclude.tells", INGEST, "The command says how much is stored from what it excludes."),
    required("pause.obeyed", INGEST, "While learning is paused no daemon learns, the one that runs or a later one."),
    required("pause.loses-nothing", INGEST, "What happens during a pause is learned after it."),
    required("pause.asked-for", INGEST, "What a person names to `graph-memory ingest` is learned in a pause as well."),
    required("pause.shown", INGEST, "`status` and `graph_stats` show a pause among the degraded parts."),
    required("pause.ends", INGEST, "A pause with a duration is over by itself."),
    required("pause.skip", INGEST, "`resume --skip` keeps what sessions said in the pause from ever being learned."),
    required("scrub.counted-first", INGEST, "`scrub` changes nothing until it is told to, and counts what it would."),
    required(
        "scrub.everywhere",
        INGEST,
        "After `scrub --apply` no file under the home but backups of before holds a secret that the rules know.",
    ),
    required("scrub.audited", INGEST, "Scrubbing is audited in ids and numbers."),
    required(
        "forget.command",
        INGEST,
        "`graph-memory forget` shows what would go, asks unless told not to, and works while a daemon runs.",
    ),
    required(
        "forget.restored",
        INGEST,
        "Neither an import nor a restore, of any backup, brings back what was forgotten or what only it supported.",
    ),
    required(
        "forget.interrupted",
        INGEST,
        "A forgetting that is cut off, or hindered by a reader, is finished by doing it again or by the next job.",
    ),
    required(
        "forget.goes-on",
        INGEST,
        "What is said later in a forgotten session, and what a fork repeats of it, is not learned; a forgotten project "
        "may begin anew.",
    ),
    required("reload.hangup", DAEMON, "SIGHUP puts exclusions, pace, ceilings, job times and log level in force."),
    required("reload.broken", DAEMON, "Broken settings leave those before in force, and `status` says so."),
    required(
        "first-run.asks",
        INGEST,
        "On a terminal the first run says how much there is to read and asks how far back; Enter takes 90 days.",
    ),
    required("first-run.kept", INGEST, "The answer is kept, and nobody is asked again."),
    required("first-run.silent", INGEST, "Without a terminal, or where it was said, nobody is asked."),
    required("bounds.disk", INGEST, "Learning stops, and says so, while the disk has less free than the floor."),
    required("bounds.shown", DAEMON, "The status shows what is used of each ceiling."),
    required("bounds.cpu-kept", INGEST, "A daemon with a backlog takes no more of a core than its share on average."),
    required("bounds.turns", INGEST, "A dropped note does not wait behind many new sessions, nor behind a long one."),
    required("bounds.only-changed", DAEMON, "Between two full looks only files that changed are looked at."),
    required(
        "server.ends-with-client",
        LAYERS,
        "A server ends within two seconds of its client, however that ends, and whatever holds its streams open.",
    ),
)
