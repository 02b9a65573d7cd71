"""Drafts are checked, cleaned and redacted before they are stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.domain.drafts import MemoryDraft, PreparedDraft, prepare_draft
from graph_memory.domain.errors import InvalidRequest
from graph_memory.domain.memories import Layer, Lifecycle, Source, Status
from graph_memory.domain.memory_policy import MemoryPolicy

NOW = datetime(2026, 4, 5, tzinfo=UTC)
DRAFT = MemoryDraft("Title", "Content", "note")
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def prepared(draft: MemoryDraft) -> PreparedDraft:
    return prepare_draft(draft, NOW, MemoryPolicy())


def with_argument(name: str, value: Any) -> MemoryDraft:  # noqa: ANN401 - of whatever type the argument is
    return replace(DRAFT, **{name: value})


@pytest.mark.spec(
    "memory_add.default.layer",
    "memory_add.default.project_id",
    "memory_add.default.lifecycle",
    "memory_add.default.confidence",
    "memory_add.default.importance_score",
    "memory_add.default.source",
    "memory_add.default.status",
)
def test_what_is_not_said_has_its_default() -> None:
    memory = prepared(DRAFT).memory

    assert (memory.layer, memory.project_id, memory.lifecycle) == (Layer.EPISODIC, "_global", Lifecycle.MILESTONE)
    assert (memory.confidence, memory.importance_score, memory.source) == (1.0, 1.0, Source.SESSION)
    assert (memory.status, memory.boost, memory.access_count, memory.accessed_at) == (Status.ACTIVE, 0.0, 0, None)
    assert memory.created_at == memory.updated_at == NOW


@pytest.mark.spec("memory_add.empty-refused", "memory_add.required")
@pytest.mark.parametrize("argument", ["title", "content", "category", "project_id"])
@pytest.mark.parametrize("empty", ["", "  \n "])
def test_an_empty_argument_is_refused_by_name(argument: str, empty: str) -> None:
    with pytest.raises(InvalidRequest, match=argument) as refused:
        prepared(with_argument(argument, empty))

    assert refused.value.argument == argument


@pytest.mark.parametrize("argument", ["layer", "lifecycle", "source"])
def test_an_unknown_choice_is_refused_with_those_there_are(argument: str) -> None:
    with pytest.raises(InvalidRequest, match="is not one of") as refused:
        prepared(with_argument(argument, "sometimes"))

    assert refused.value.argument == argument


@pytest.mark.parametrize(
    ("argument", "given_", "kept"),
    [
        ("confidence", 1.5, 1.0),
        ("confidence", -3, 0.0),
        ("importance_score", -1, 0.0),
        ("importance_score", 1e308, 10.0),
    ],
)
def test_a_number_out_of_range_is_clamped_with_a_warning(argument: str, given_: float, kept: float) -> None:
    found = prepared(with_argument(argument, given_))

    assert getattr(found.memory, argument) == kept
    assert [argument in warning for warning in found.warnings] == [True]


@pytest.mark.parametrize("argument", ["confidence", "importance_score"])
def test_what_is_not_a_number_is_refused(argument: str) -> None:
    with pytest.raises(InvalidRequest, match=argument):
        prepared(with_argument(argument, float("nan")))


@pytest.mark.spec("memory_add.optional-kept")
def test_an_expiry_may_be_a_date_or_an_instant() -> None:
    assert prepared(replace(DRAFT, expires_at="2026-05-01")).memory.expires_at == datetime(2026, 5, 1, tzinfo=UTC)
    assert prepared(replace(DRAFT, expires_at=date(2026, 5, 1))).memory.expires_at == datetime(2026, 5, 1, tzinfo=UTC)

    naive = prepared(replace(DRAFT, expires_at="2026-05-01T10:00"))

    assert naive.memory.expires_at == datetime(2026, 5, 1, 10, tzinfo=UTC)
    assert "expires_at" in naive.warnings[0]
    with pytest.raises(InvalidRequest, match="expires_at"):
        prepared(replace(DRAFT, expires_at="next week"))


def test_an_ephemeral_memory_expires_by_itself() -> None:
    ephemeral = replace(DRAFT, lifecycle="ephemeral")

    assert prepared(ephemeral).memory.expires_at == NOW + timedelta(days=14)
    assert prepared(replace(ephemeral, expires_at="2027-01-01")).memory.expires_at == datetime(2027, 1, 1, tzinfo=UTC)
    assert prepared(DRAFT).memory.expires_at is None


@pytest.mark.spec("memory_add.tags")
def test_tags_are_kept_once_each_in_their_first_spelling() -> None:
    found = prepared(replace(DRAFT, tags=["#API", "api", " two  words ", "", "#", "Café", "Cafe\u0301"]))

    assert found.memory.tags == ("API", "two words", "Café")


@pytest.mark.parametrize("tags", [["x" * 201], [f"t{i}" for i in range(101)]])
def test_tags_are_bounded(tags: list[str]) -> None:
    with pytest.raises(InvalidRequest, match="tags"):
        prepared(replace(DRAFT, tags=tags))


def test_no_secret_is_stored_in_any_text() -> None:
    found = prepared(MemoryDraft(f"Token {SECRET}", f"is {SECRET}", "note", summary=SECRET, tags=[SECRET]))

    assert SECRET not in repr(found)
    assert SECRET.lower() not in repr(found).lower()
    assert sum(found.redactions.values()) == 4


def test_content_is_kept_as_written_but_for_what_no_store_holds() -> None:
    found = prepared(replace(DRAFT, content="  a\r\n\tb \x00 \ud800  "))

    assert found.memory.content == "  a\r\n\tb \ufffd \ufffd  "


def test_a_title_is_one_line() -> None:
    assert prepared(replace(DRAFT, title="  A\n title\t")).memory.title == "A title"


def test_what_ingest_knows_by_key_may_take_another_title() -> None:
    found = prepared(replace(DRAFT, content_key="k1", other_titles=("Title (docs)",)))

    assert found.titles[:2] == ("Title", "Title (docs)")
    assert len(found.titles) == 3
    assert found.titles[2].startswith("Title (")
    assert prepared(replace(DRAFT, other_titles=("Title (docs)",))).titles == ("Title",)


@given(st.text(), st.text(), st.lists(st.text(), max_size=5))
def test_any_text_is_either_stored_or_refused_by_name(title: str, content: str, tags: list[str]) -> None:
    try:
        found = prepared(replace(DRAFT, title=title, content=content, tags=tags))
    except InvalidRequest as refused:
        assert refused.argument in {"title", "content", "tags"}  # noqa: PT017 - either outcome is right
    else:
        found.memory.content.encode()
        found.memory.title.encode()
