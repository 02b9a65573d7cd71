"""Text search, with words as people type them."""

import random
import re
import time
from typing import Any

from neo4j import Driver
from neo4j.exceptions import Neo4jError

from bench.neo4j_primitives.client import ask, clear
from bench.neo4j_primitives.measuring import Report, timed

TEXTS = r"""C:\repo|(|"|AND|NOT a|a AND|*|~|\|/x/|[1 TO 5]|title:note|POL-358|--error|don't""".split("|")


def quoted(words: str, most: int = 64) -> str:
    """Return a query in which every word is a phrase, so that nothing in it is an operator."""
    phrases = (word.replace("\\", "\\\\").replace('"', '\\"') for word in dict.fromkeys(words.split()))
    return " OR ".join(f'"{phrase}"' for phrase in list(phrases)[:most])


def prefixed(words: str) -> str:
    """Return a query for what holds `words`, the last of them as the beginning of one: that can't be quoted."""
    *whole, begun = re.findall(r"\w+", words.lower())
    return " AND ".join([*(f'"{word}"' for word in whole), f"{begun}*"])


def text(_: str, driver: Driver) -> Report:
    clear(driver)
    draw = random.Random(3)
    notes: list[list[Any]] = [
        [number, f"note {number}", " ".join(f"w{int(draw.paretovariate(0.6)) % 9000}" for _ in range(100))]
        for number in range(5000)
    ]
    notes[17][2] = 'see C:\\repo\\main.py, (POL-358) said "don\'t" with --error'
    notes[18][2] = "the runners were running through 日本語のテキスト"
    add = "UNWIND $rows AS row CREATE (:Memory {id: row[0], title: row[1], content: row[2]})"
    began = time.perf_counter()
    for start in range(0, len(notes), 1000):
        ask(driver, add, rows=notes[start : start + 1000])
    seconds = round(time.perf_counter() - began, 1)
    find = "CALL db.index.fulltext.queryNodes('memory_text', $text, {limit: 10}) YIELD node RETURN collect(node.id)"

    def outcome(query: str) -> object:
        try:
            return ask(driver, find, text=query)[0][0]
        except Neo4jError:
            return "refused"

    many = " ".join(f"w{number}" for number in range(2000))
    with driver.session() as session, session.begin_transaction() as tx:
        tx.run("CREATE (:Memory {id: -1, title: 'zebra'})").consume()
        sees_own = tx.run(find, text="zebra").single(strict=True)[0] == [-1]
        tx.rollback()
    raw, escaped = {t: outcome(t) for t in TEXTS}, {t: outcome(quoted(t)) for t in TEXTS}
    return {
        "add_5000_notes_seconds": seconds,
        "raw_refused": [t for t, found in raw.items() if found == "refused"],
        "escaped_refused": [t for t, found in escaped.items() if found == "refused"],
        "escaped_find_the_note": [t for t, found in escaped.items() if isinstance(found, list) and 17 in found],
        "finds_inflections": outcome(quoted("run")) == [18],
        "finds_within_scripts_without_spaces": outcome(quoted("本語")) == [18],
        "finds_prefixes": outcome(prefixed("(POL-3")) == [17] and outcome(prefixed("Runn")) == [18],
        "two_thousand_words_raw": "refused" if outcome(many) == "refused" else "answered",
        "two_thousand_words_escaped": "refused" if outcome(quoted(many, 2000)) == "refused" else "answered",
        "blank": outcome(quoted("  ")),
        "sees_its_own_uncommitted_note": sees_own,
        "ten_words_ms": timed(lambda: ask(driver, find, text=quoted(" ".join(notes[40][2].split()[:10])))),
    }
