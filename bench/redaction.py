"""How fast redaction reads, what it finds and what it takes by mistake, beside detect-secrets' detectors.

    python -m bench.redaction [FOLDER ...]

Every text file under the folders is read as harmless; the planted secrets are those of the tests.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from graph_memory.domain.redaction import redact, redact_bytes
from graph_memory.domain.secret_rules import RULES
from tests.domain.planted_secrets import ASSIGNED, SHAPED

MEGABYTE = 1_000_000
SIZE = 40 * MEGABYTE


def best_seconds(work: Callable[[], object], rounds: int = 3) -> float:
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def without_anchors(text: str) -> str:
    for anchor in sorted({anchor.decode() for rule in RULES for anchor in rule.anchors}, key=len):
        text = text.replace(anchor, " ")
    return text


def texts(folders: Iterable[str]) -> str:
    suffixes = {".md", ".jsonl", ".txt", ".py"}
    files = (path for folder in folders for path in sorted(Path(folder).rglob("*")) if path.suffix in suffixes)
    return "\n".join(path.read_text("utf-8", "replace") for path in files)


def speeds(corpus: str) -> None:
    for name, text in (("without anchors", without_anchors(corpus)), ("as it is", corpus)):
        sample = (text * (SIZE // max(1, len(text)) + 1))[:SIZE]
        data = sample.encode("utf-8", "surrogatepass")
        for kind, seconds in (
            ("text", best_seconds(lambda sample=sample: redact(sample))),  # type: ignore[misc]
            ("bytes", best_seconds(lambda data=data: redact_bytes(data))),  # type: ignore[misc]
        ):
            print(f"redact, {kind} {name}: {len(data) / MEGABYTE / seconds:.0f} MB/s")


def planted() -> list[tuple[str, str]]:
    return [*((secret, secret) for secret in SHAPED.values()), *ASSIGNED.values()]


def hits(corpus: str) -> None:
    gone = sum(secret not in redact(text).text for text, secret in planted())
    print(f"redact: {gone} of {len(planted())} planted secrets gone")
    words = len(re.findall(r"\w+", corpus))
    marks = sum(redact(corpus).counts.values())
    print(f"redact: {marks} marks in {words} harmless words ({1000 * marks / max(1, words):.3f} in 1,000)")


def detect_secrets(corpus: str) -> None:
    if importlib.util.find_spec("detect_secrets") is None:
        print("detect-secrets: not installed")
        return
    begun = time.perf_counter()
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector
    from detect_secrets.plugins.ip_public import IPPublicDetector
    from detect_secrets.plugins.keyword import KeywordDetector

    classes: Iterable[type] = get_mapping_from_secret_type_to_class().values()
    print(f"detect-secrets: {1000 * (time.perf_counter() - begun):.0f} ms to import")
    detectors = [
        detector()
        for detector in classes
        if issubclass(detector, RegexBasedDetector | KeywordDetector) and detector is not IPPublicDetector
    ]

    def found(text: str) -> list[str]:
        return [it for line in text.split("\n") for detector in detectors for it in detector.analyze_string(line)]

    sample = corpus[: 2 * MEGABYTE]
    print(f"detect-secrets: {len(sample) / MEGABYTE / best_seconds(lambda: found(sample), 1):.1f} MB/s")
    seen = whole = 0
    for text, secret in planted():
        rest = text
        for it in found(text):
            rest = rest.replace(it, "")
        seen += rest != text
        whole += not any(secret[i : i + 8] in rest for i in range(max(1, len(secret) - 8)))
    print(f"detect-secrets: of {len(planted())} planted secrets it sees {seen} and covers {whole} to their end")


def main() -> None:
    corpus = texts(sys.argv[1:] or ["docs", "graph_memory"])
    speeds(corpus)
    hits(corpus)
    detect_secrets(corpus)


if __name__ == "__main__":
    main()
