"""The process that reads one document: `python -m ingest.documents.converter SUFFIX NAME SECONDS MEGABYTES CHARACTERS`.

It gets the document on stdin, eight bytes of length before it, and answers with JSON on stdout: a `Document`, a
`reason`, or what is `missing`. Before anything of the document is looked at it takes from itself what reading needs
not: processor time and memory beyond the ceilings, writing files, other programs, the network. The last two by an audit
hook, which holds against libraries that mean well, and is no wall against code that runs on purpose.
"""

import json
import os
import resource
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from graph_memory.domain.errors import IngestError
from ingest.documents.model import Document

_MEGABYTE = 1_000_000
_LENGTH = 8
_FORBIDDEN = (
    "ctypes.dlopen",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.system",
    "socket.",
    "subprocess.Popen",
    "urllib.Request",
    "webbrowser.open",
)
_SYSTEM = ("/usr/share/zoneinfo", "/usr/lib", "/lib", "/proc", "/sys", "/dev/null", "/dev/urandom")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be read, and within which ceilings."""

    suffix: str
    name: str
    seconds: float
    megabytes: int
    characters: int


def main() -> None:
    """Read the document and say what came of it."""
    suffix, name, seconds, megabytes, characters = sys.argv[1:]
    request = Request(suffix, name, float(seconds), int(megabytes), int(characters))
    answer = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no answer
    be_first_to_go()
    limit(request)
    raw = _received()
    answer.write(_encoded(_outcome(request, raw)))
    answer.flush()
    os._exit(0)  # threads of libraries, and the one on stdin, are not waited for


def be_first_to_go() -> None:
    """Have the system end this process, and not another one, where memory runs out."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def limit(request: Request) -> None:
    """Bound what this process may take, for good."""
    seconds, room = max(1, round(request.seconds)), request.megabytes * _MEGABYTE
    bounds = [
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_DATA, room),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ]
    for kind, value in bounds:
        with suppress(ValueError, OSError):  # macOS has no ceiling for data: there the size is watched from outside
            resource.setrlimit(kind, (value, value + 1 if kind == resource.RLIMIT_CPU else value))


def forbid() -> None:
    """Refuse from now on what no reader of a document needs: network, programs, files that are not the readers' own."""
    own = {*sys.path, sys.prefix, sys.base_prefix, sys.exec_prefix, *_SYSTEM}
    allowed = tuple(os.path.realpath(it) for it in own if it)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            if isinstance(path, int):
                return
            is_writing = bool(flags & _WRITING) if isinstance(flags, int) else "r" not in (mode or "r")
            if is_writing or not os.path.realpath(os.fsdecode(path)).startswith(allowed):
                raise PermissionError("a document may not open files")
        elif event.startswith(_FORBIDDEN):
            raise PermissionError("a document may not reach beyond itself")

    sys.addaudithook(hook)


def _outcome(request: Request, raw: bytes) -> dict[str, Any]:
    try:
        read = _reader(request)
        forbid()
        document = read(raw, request)
    except ModuleNotFoundError as error:
        return {"missing": (error.name or "markitdown").partition(".")[0]}
    except Exception as error:  # noqa: BLE001 - readers break on damaged files in any way they like
        return {"reason": _why(error, request)}
    if len(document.text) > request.characters:
        limit = f"{request.characters} characters of text (ingest.max_file_bytes)"
        return {"reason": f"the file unpacks to more than {limit}"}
    return _told(document)


def _why(error: Exception, request: Request) -> str:
    match error:
        case IngestError():
            return str(error)
        case MemoryError():
            return f"reading it takes more than {request.megabytes} MB of memory (ingest.convert_mb)"
        case RecursionError():
            return "the file is damaged: its parts lie within each other without an end"
        case _:
            return f"the file is damaged, or no {request.suffix} ({type(error).__name__})"


def _reader(request: Request) -> Callable[[bytes, Request], Document]:
    """Import what the kind needs, before files are out of reach."""
    if request.suffix == ".eml":
        from ingest.documents.mail import read_mail

        return lambda raw, it: read_mail(raw, it.name)
    from ingest.documents.office import reader_of

    read = reader_of(request.suffix)
    return lambda raw, it: read(raw, it.name, it.megabytes * _MEGABYTE)


def _received() -> bytes:
    """Take the document, then end whenever the sender is gone."""
    source = sys.stdin.buffer
    length = int.from_bytes(source.read(_LENGTH), "big")
    raw = source.read(length)
    if len(raw) < length:
        os._exit(1)
    threading.Thread(target=_end_with_sender, daemon=True).start()
    return raw


def _end_with_sender() -> NoReturn:
    os.read(sys.stdin.fileno(), 1)  # not of the buffer, whose lock would be missed at the end
    os._exit(1)


def _told(document: Document) -> dict[str, Any]:
    return {
        "title": document.title,
        "text": document.text,
        "media_type": document.media_type,
        "authors": list(document.authors),
        "written_at": None if document.written_at is None else document.written_at.isoformat(),
        "warnings": list(document.warnings),
    }


def _encoded(outcome: dict[str, Any]) -> bytes:
    """Return JSON in UTF-8; halves of characters, which some files have, are joined, or replaced."""
    text = json.dumps(outcome, ensure_ascii=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


if __name__ == "__main__":
    main()
