"""What is kept, and for how long: the archive of transcripts, backups that are verified, restores, upgrades."""

from tests.spec.model import Requirement, design, required, ruling

INGEST = design("Ingest, without a language model")
DAEMON = design("The daemon")
SQLITE = design("SQLite (the default)")
DRILL = design("The daemon: keeping, restore drill")
KEEPING = design("The daemon: keeping")
CEILINGS = ruling("Where nothing else is said")

REQUIREMENTS: tuple[Requirement, ...] = (
    required(
        "archive.keeps-what-was-read",
        INGEST,
        "Every transcript that was read has a compressed copy, which is read when the transcript is gone.",
    ),
    required(
        "archive.grows", INGEST, "A transcript that grows by a few lines at a time is kept whole and in little space."
    ),
    required("archive.redacted", INGEST, "The archive holds no secret: the rules of what is stored hold for it."),
    required("archive.nothing-excluded", INGEST, "Excluded sessions, folders and projects are not archived."),
    required(
        "archive.nothing-forgotten",
        INGEST,
        "What was forgotten for good is erased from the archive, copies of it in other sessions too, and never "
        "archived again.",
    ),
    required("archive.size-cap", CEILINGS, "The archive takes at most `limits.archive_mb`; the oldest goes first."),
    required("archive.crash", INGEST, "A process killed while it archives leaves files that can all be read."),
    required("archive.hourly", DAEMON, "The archive is brought up to date every hour, and caught up after sleep."),
    required(
        "archive.read-by-tool",
        INGEST,
        "`graph_read_transcript` reads a session by its id from the archive when its transcript is gone.",
    ),
    required(
        "export.verified",
        DAEMON,
        "A backup is read back whole before an older one goes; one that is not what was written is removed, and the "
        "job fails.",
    ),
    required("export.leftovers", DAEMON, "What a killed export has left is removed by the next one."),
    required("export.retention", DAEMON, "`export.keep` nightly backups are kept; labelled ones stay."),
    required(
        "upgrade.copy",
        SQLITE,
        "Before an older database is upgraded a copy of it is made and read back, named by its version; the last three "
        "stay, and without one nothing is upgraded.",
    ),
    required(
        "upgrade.all-or-nothing", SQLITE, "An upgrade that fails or is killed half way leaves the database as it was."
    ),
    required(
        "upgrade.refused-downgrade",
        SQLITE,
        "A database newer than the program is refused and left alone, with a word that names both versions.",
    ),
    required(
        "upgrade.side-by-side",
        SQLITE,
        "A process started before the database was upgraded neither reads nor writes it any more, and says that it is "
        "to be restarted.",
    ),
    required(
        "storage.replaced",
        SQLITE,
        "A process whose database file was replaced or removed acknowledges no write into the old one.",
    ),
    required(
        "retention.dead-workers",
        DAEMON,
        "What a killed worker had in `processing/` is taken up, and its folder and lock are removed.",
    ),
    required(
        "restore.drill",
        DRILL,
        "A home that was deleted and restored from its last export answers as before: notes with versions and tags, "
        "the graph with its evidence, cursors, ledger and tombstones.",
    ),
    required("restore.nothing-twice", DRILL, "What was read before a restore is not learned again after it."),
    required("restore.latest", KEEPING, "`graph-memory restore latest` takes the newest backup of the backups folder."),
    required(
        "restore.backup-before",
        KEEPING,
        "What is there before a restore goes into a backup first, which no retention removes.",
    ),
    required(
        "restore.daemon",
        KEEPING,
        "Nothing is restored while the daemon runs; servers that are open see what was restored at once.",
    ),
    required(
        "restore.tombstones", KEEPING, "What was forgotten after a backup was made stays forgotten when it is restored."
    ),
    required(
        "restore.damaged-database",
        KEEPING,
        "A damaged database is set aside, not deleted, and what it says was forgotten is not restored.",
    ),
)
