"""A reader of documents that breaks in the way that the document's name says; run in the converter's place."""

import mmap
import os
import signal
import sys
import time
from pathlib import Path

from ingest.documents.converter import Request, _received, limit

_SUFFIX, NAME, SECONDS, MEGABYTES, CHARACTERS = sys.argv[1:]
limit(Request(_SUFFIX, NAME, float(SECONDS), int(MEGABYTES), int(CHARACTERS)))
RAW = _received()


def hang() -> None:
    print(RAW.decode(), end="", flush=True)
    time.sleep(600)


def spin() -> None:
    while True:
        pass


def swell() -> None:
    held: list[bytes] = []
    while True:
        held.append(bytes(10_000_000))


def swell_unbounded() -> None:
    """Hold memory that no ceiling of the system counts."""
    held = []
    while True:
        held.append(mmap.mmap(-1, 50_000_000))
        held[-1].write(bytes(50_000_000))
        time.sleep(0.05)


def talk() -> None:
    while True:
        sys.stdout.write("x" * 1_000_000)


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def be_ended() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail() -> None:
    raise SystemExit(3)


def mumble() -> None:
    print("no JSON")


def write() -> None:
    Path(RAW.decode()).write_bytes(b"x")


globals()[NAME]()
