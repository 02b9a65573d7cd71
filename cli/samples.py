"""What `graph-memory demo` learns: three notes and one conversation about a ferry company that does not exist."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

SESSION = "0d3e1f52-demo-4c1a-9a61-5b1f0c6d2e77"
FOLDER = "/home/ines/tidewater"
_SECONDS_APART = 90

NOTES: Mapping[str, str] = {
    "decisions/postgres.md": """\
---
title: Postgres instead of MongoDB
project: tidewater
author: Ines Falk
tags: [decision, database]
---

# Postgres instead of MongoDB

Sailings, cabins and fares refer to each other, and a fare without its sailing is a complaint at the counter. We want
foreign keys and one transaction for a booking, so [[Tidewater]] keeps its data in Postgres 16. Noor objected that the
timetable import is document-shaped; it now goes through a staging table.
""",
    "runbooks/deploy.md": """\
---
title: Deploying Tidewater
project: tidewater
tags: [runbook]
---

# Deploying Tidewater

1. Wait until the last ferry has left: bookings close at 21:40.
2. `make release` builds and tags, `make ship` rolls out one harbour at a time.
3. Watch `src/booking/locks.py` in the traces: two counters selling one cabin shows there first.

The reason for step 1 is in [[Postgres instead of MongoDB]]: migrations take a lock on the fares table.
""",
    "tidewater.md": """\
---
title: Tidewater
project: tidewater
---

# Tidewater

The booking system of four harbours. Ines Falk decides, Noor writes most of it. Code: github.com/example/tidewater.
See [[Deploying Tidewater]] before you touch production.
""",
}

TURNS: Sequence[tuple[str, str]] = (
    (
        "the ship step failed again on the third harbour, timeout on the migration. what did we decide about that?",
        (
            "The runbook says migrations lock the fares table, so shipping waits until bookings close at 21:40. This "
            "run started at 20:15, while a counter still held the table. I'd run it again tonight, and make `make "
            "ship` refuse before 21:40."
        ),
    ),
    (
        "do that. and write down that noor wants lock_timeout at 5 seconds for every migration from now on",
        (
            "Done: `scripts/ship.py` refuses before 21:40, and every migration sets lock_timeout to 5 seconds, as Noor "
            "asked. A blocked migration now fails fast instead of holding up the counters."
        ),
    ),
    (
        "which harbour is first next time?",
        "Sandvik goes first: it has one counter and the fewest bookings, so a mistake costs least there.",
    ),
)

QUESTIONS: Sequence[str] = ("why postgres", "lock_timeout", "which harbour goes first")


def write_notes(pending: Path) -> None:
    """Drop the notes into an inbox."""
    for name, text in NOTES.items():
        file = pending / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def write_conversation(projects: Path, now: datetime) -> None:
    """Write the conversation as Claude Code keeps it, as if it had just ended."""
    import orjson

    folder = projects / FOLDER.replace("/", "-")
    folder.mkdir(parents=True)
    with (folder / f"{SESSION}.jsonl").open("wb") as file:
        for line in conversation_lines(now):
            file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))


def conversation_lines(now: datetime) -> list[dict[str, Any]]:
    """Return the lines of the conversation's transcript, the last of them at `now`."""
    began = now - timedelta(seconds=_SECONDS_APART * 2 * len(TURNS))
    said = [(role, text) for turn in TURNS for role, text in zip(("user", "assistant"), turn, strict=True)]
    lines: list[dict[str, Any]] = []
    for number, (role, text) in enumerate(said):
        at = began + timedelta(seconds=_SECONDS_APART * (number + 1))
        message: dict[str, Any] = {"role": role, "content": text}
        if role == "assistant":
            message = {"id": f"msg_demo_{number}", "type": "message", **message}
            message["content"] = [{"type": "text", "text": text}]
        lines.append(
            {
                "type": role,
                "uuid": f"demo-{number}",
                "parentUuid": f"demo-{number - 1}" if number else None,
                "isSidechain": False,
                "userType": "external",
                "cwd": FOLDER,
                "sessionId": SESSION,
                "version": "2.0.0",
                "timestamp": at.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
                "message": message,
            }
        )
    return lines
