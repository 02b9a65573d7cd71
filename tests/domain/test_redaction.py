"""Secrets leave every text that is stored or shown; everything else stays."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain.redaction import redact, redact_bytes
from graph_memory.domain.secret_rules import RULES
from tests.domain.planted_secrets import ASSIGNED, GIVEN, HARMLESS, MIXED, NAMES, QUOTED, SHAPED

SURROUNDINGS = (
    "{}",
    "the key is {} and nothing else",
    "`{}`",
    '"{}",',
    "({})",
    "日本語{}日本語",
    "KEY={}\nNEXT=1",
    "line\n{}\nline",
    "{}.",
)


@pytest.mark.spec("redaction.ingest")
@pytest.mark.parametrize("surroundings", SURROUNDINGS)
@pytest.mark.parametrize("kind", SHAPED)
def test_a_secret_of_a_known_shape_goes_wherever_it_stands(kind: str, surroundings: str) -> None:
    secret = SHAPED[kind]
    before, after = surroundings.split("{}")

    redacted = redact(surroundings.format(secret))

    assert not _part_of(secret, redacted.text)
    assert "[redacted:" in redacted.text
    assert redacted.text.startswith(before)
    assert redacted.text.endswith(after) or before.startswith("KEY=")
    assert sum(redacted.counts.values()) == 1


def _part_of(secret: str, text: str) -> bool:
    """Tell whether any eight letters of the secret's second half are left: a head without its tail is no help."""
    tail = secret[len(secret) // 2 :]
    return any(tail[i : i + 8] in text for i in range(max(1, len(tail) - 8)))


@pytest.mark.spec("redaction.ingest")
@pytest.mark.parametrize("place", ASSIGNED)
def test_a_secret_goes_that_is_known_by_the_name_it_is_given_to(place: str) -> None:
    text, secret = ASSIGNED[place]

    redacted = redact(text)

    assert secret not in redacted.text
    assert sum(redacted.counts.values()) == 1


@pytest.mark.spec("redaction.ingest")
@pytest.mark.parametrize("given", GIVEN)
def test_a_value_of_letters_and_digits_goes_however_it_is_given(given: str) -> None:
    texts = [(given.format(name, value), value) for name in NAMES for value in MIXED]

    kept = [text for text, value in texts if value in redact(text).text]

    assert kept == []


@pytest.mark.spec("redaction.ingest")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("given", QUOTED)
def test_a_plain_word_in_quotes_goes_and_a_placeholder_stays(given: str, name: str) -> None:
    assert "swordfish" not in redact(given.format(name, "swordfish")).text
    for placeholder in ("password", "your-secret", "********", "<secret>", "${SECRET}", "changeme", ""):
        assert redact(given.format(name, placeholder)).text == given.format(name, placeholder)


@pytest.mark.spec("redaction.harmless-kept")
@pytest.mark.parametrize("text", HARMLESS, ids=lambda it: it[:40])
def test_harmless_text_stays_as_it_is(text: str) -> None:
    redacted = redact(text)

    assert redacted.text == text
    assert not redacted.counts


def test_at_least_twenty_kinds_are_told_apart() -> None:
    assert len({rule.kind for rule in RULES}) >= 20


def test_the_counts_name_each_kind_and_never_the_secret() -> None:
    redacted = redact(f"{SHAPED['GitHub personal']} {SHAPED['GitHub app']} {SHAPED['npm']}")

    assert redacted.text == "[redacted:github] [redacted:github] [redacted:npm]"
    assert dict(redacted.counts) == {"github": 2, "npm": 1}


def test_a_secret_inside_another_is_counted_once() -> None:
    redacted = redact(f"Authorization: Bearer {SHAPED['JWT']}")

    assert sum(redacted.counts.values()) == 1


def test_a_key_cut_off_before_its_end_goes_and_the_prose_after_it_stays() -> None:
    cut = "\n".join(SHAPED["RSA key"].splitlines()[:5])

    assert redact(f"{cut}\n\nand so it ended").text == "[redacted:private-key]\n\nand so it ended"


_PIECES = st.sampled_from(
    [
        *SHAPED.values(),
        *(text for text, _ in ASSIGNED.values()),
        *(given.format("pw", "hunter2secret") for given in GIVEN),
        *HARMLESS,
        *(anchor.decode() for rule in RULES for anchor in rule.anchors),
        *("=", ":", '"', "'", " ", "\n", "\\", "[redacted:", "]", "@", "/", "-", "hunter2", "é", "\ud800", "`", "|"),
    ]
)
NASTY = st.lists(st.one_of(_PIECES, st.text(max_size=4)), max_size=12).map("".join)


@given(NASTY)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text).text

    again = redact(once)

    assert again.text == once
    assert not again.counts


@pytest.mark.spec("redaction.same-rules")
@given(NASTY)
def test_bytes_and_text_go_through_the_same_rules(text: str) -> None:
    redacted = redact(text)

    same = redact_bytes(text.encode("utf-8", "surrogatepass"))

    assert same.data.decode("utf-8", "surrogatepass") == redacted.text
    assert same.counts == redacted.counts


@given(st.dictionaries(st.sampled_from(["a", "password", "token", "text"]), NASTY, max_size=4), st.booleans())
def test_a_line_of_json_stays_valid_json_of_the_same_shape(record: dict[str, str], spaced: bool) -> None:
    line = json.dumps(record, separators=None if spaced else (",", ":"), ensure_ascii=False)

    read = json.loads(redact_bytes(line.encode("utf-8", "surrogatepass")).data.decode("utf-8", "surrogatepass"))

    assert read.keys() == record.keys()


@pytest.mark.parametrize("kind", SHAPED)
def test_a_secret_goes_from_a_line_of_json_too(kind: str) -> None:
    line = json.dumps({"text": f"first line\n{SHAPED[kind]}\nlast line"})

    redacted = redact_bytes(line.encode()).data.decode()

    assert not _part_of(SHAPED[kind].replace("\n", "\\n"), redacted)
    assert json.loads(redacted)["text"].endswith("\nlast line")


@pytest.mark.parametrize("kind", ["Stripe live", "npm", "Google OAuth"])
def test_a_secret_goes_whose_beginning_is_the_end_of_another_anchor(kind: str) -> None:
    secret = SHAPED[kind]
    overlaps = [
        anchor.decode() + secret[length:]
        for rule in RULES
        for anchor in rule.anchors
        for length in range(1, len(anchor))
        if secret.encode().startswith(anchor[-length:])
    ]

    assert overlaps
    for text in overlaps:
        assert not _part_of(secret, redact(text).text)


@pytest.mark.parametrize("anchor", sorted({anchor for rule in RULES for anchor in rule.anchors}))
def test_a_text_of_anchors_alone_is_read_in_bounded_steps(anchor: bytes) -> None:
    once = redact_bytes(anchor * 3_000).data

    assert redact_bytes(once).data == once


@pytest.mark.spec("redaction.harmless-kept")
def test_a_vault_and_transcripts_without_secrets_lose_less_than_one_word_in_a_thousand(shared_cases: Path) -> None:
    words = marks = 0
    for folder, pattern in (("vault-help", "*.md"), ("transcripts", "*.jsonl")):
        for path in (shared_cases / folder).rglob(pattern):
            text = path.read_text("utf-8", "replace")
            words += len(re.findall(r"\w+", text))
            marks += sum(redact(text).counts.values())

    assert words > 100_000
    assert marks * 1_000 <= words
