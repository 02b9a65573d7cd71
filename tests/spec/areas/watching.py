"""Watching the daemon: its socket, status, figures, doctor, and what it does in trouble."""

from tests.spec.model import Requirement, design, required

DAEMON = design("The daemon")
FILES = design("Home folder")
STORE = design("SQLite (the default)")
BOUNDS = design("Ingest, without a language model")

REQUIREMENTS: tuple[Requirement, ...] = (
    required(
        "watching.socket",
        DAEMON,
        "A status socket gives queue depths, cursors, jobs with last and next run, rates, memory, budget and degraded "
        "parts with their reason.",
    ),
    required("watching.socket.private", FILES, "The socket is its owner's alone, in mode and by who is asked."),
    required(
        "watching.socket.bounded",
        DAEMON,
        "A client of the socket that is silent, slow, deaf or many costs a bounded amount, and no other its answer.",
    ),
    required("watching.socket.versions", DAEMON, "A client and a daemon of different versions say so in words."),
    required(
        "watching.socket.lasts", DAEMON, "A socket file that is stale is taken over, one that goes is made again."
    ),
    required(
        "watching.status.live",
        DAEMON,
        "On a terminal the status is drawn again every second until q or Ctrl-C; elsewhere it is shown once.",
    ),
    required("watching.status.without-daemon", DAEMON, "The status works while the daemon is stopped, and says so."),
    required("watching.status.honest", DAEMON, "Nothing is called well beside a failed document or a degraded part."),
    required("watching.errors", DAEMON, "The last errors are counted by kind and shown, without a word of their text."),
    required(
        "watching.metrics",
        DAEMON,
        "Where asked for, figures for Prometheus are served on the loopback alone, to whoever asks for it by its name, "
        "with no text of the user in them.",
    ),
    required("watching.doctor", DAEMON, "Every finding of `doctor` has its remedy, and looking changes nothing."),
    required("watching.doctor.fix", DAEMON, "`doctor --fix` mends what is safe, once, and says what it did."),
    required(
        "trouble.disk", DAEMON, "With a full disk learning waits and says so; with room again all of it is learned."
    ),
    required("trouble.rights", FILES, "Rights that are lost and given back cost nothing but the time between."),
    required("trouble.folders", DAEMON, "A projects folder that is moved away and back is read on where it was."),
    required("trouble.watches", DAEMON, "Out of watches the folders are polled, and that is said."),
    required("trouble.damage", STORE, "A damaged store ends the daemon with a plain word, and nothing is made worse."),
    required("trouble.clock", DAEMON, "A clock set back by a day runs no job twice, and none is missed afterwards."),
    required("trouble.one-daemon", DAEMON, "Of daemons started at once one has the home; the others are told which."),
)
