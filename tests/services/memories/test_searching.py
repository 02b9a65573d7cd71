"""Finding memories by text, by age and by id."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_memory.adapters.reference import ReferenceStore
from graph_memory.domain.drafts import MemoryDraft
from graph_memory.domain.errors import InvalidRequest, NotFound
from graph_memory.domain.memories import Layer, Lifecycle, MemoryFilter, Status
from graph_memory.domain.principal import LOCAL_ADMIN
from tests.services.memories.desk import Desk

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTES = (
    ("C", "Plain C code."),
    ("C++", "Written in C++ mostly."),
    ("Ticket POL-358", "See POL-358 for the outage."),
    ("Ticket 358", "The POL board has 358 open tickets."),
    ("Apostrophe", "Please don't panic, what's \"foo\"?"),
    ("Path", "It lies at C:\\repo\\src and a/b."),
    ("Column", "Uses foo:bar as key, node.js as runtime."),
    ("Version", "Fixed in v2.1.39, fails with --error."),
    ("Mail", "Write to email@x.org, 50% off."),
    ("Agents", "A multi-agent system."),
    ("日本語のメモ", "データベースの選択についてのメモ。"),
    ("Заметка", "Выбор базы данных."),
)


@pytest.fixture
def noted(desk: Desk) -> Desk:
    desk.add_all(*(MemoryDraft(title, text, "note", "alpha") for title, text in NOTES))
    return desk


@pytest.mark.spec("memory_search.finds")
def test_words_of_title_content_and_tags_are_found_in_any_inflection_of_the_store(desk: Desk) -> None:
    desk.add("Bernoulli", "About flight.")
    desk.add("Content", "The bernoulli principle.")
    desk.add("Tagged", "Nothing.", tags=["bernoulli"])
    desk.add("Other", "Else.")

    assert set(desk.found("bernoulli")) == {"Bernoulli", "Content", "Tagged"}


@pytest.mark.spec("memory_search.plain-text", "memory_search.plain-text.finds", "memory_search.any-script")
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("c++", "C++"),
        ("C++", "C++"),
        ("POL-358", "Ticket POL-358"),
        ("don't", "Apostrophe"),
        ("what's \"foo", "Apostrophe"),
        ("C:\\repo", "Path"),
        ("C:\\repo\\src", "Path"),
        ("a/b", "Path"),
        ("foo:bar", "Column"),
        ("node.js", "Column"),
        ("v2.1.39", "Version"),
        ("--error", "Version"),
        ("email@x.org", "Mail"),
        ("50%", "Mail"),
        ("multi-agent", "Agents"),
        ("sqlite AND multi-agent AND", "Agents"),
        ("NOT panic", "Apostrophe"),
        ("日本語", "日本語のメモ"),
        ("データベース", "日本語のメモ"),
        ("базы данных", "Заметка"),
    ],
)
def test_text_as_people_type_it_finds_the_note_that_has_it_first(noted: Desk, query: str, first: str) -> None:
    assert noted.found(query)[0] == first


@pytest.mark.spec("memory_search.empty", "memory_search.plain-text")
@pytest.mark.parametrize("query", ["", " \n", "(", '"', "*", "🎉", "\x00", "--"])
def test_a_query_without_words_finds_nothing(noted: Desk, query: str) -> None:
    assert noted.found(query) == []


@pytest.mark.parametrize(
    "query", ["AND", "NOT", "NEAR(", "title:", "a" * 10_000, "word " * 2_000, "(a AND " * 900, "\ud800"]
)
def test_no_query_is_an_error(noted: Desk, query: str) -> None:
    noted.found(query)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    query=st.one_of(
        st.text(), st.lists(st.sampled_from(['"', "AND", "NOT", "(", ")", "*", "POL", "-", ":"])).map(" ".join)
    )
)
def test_no_text_at_all_is_an_error(noted: Desk, query: str) -> None:
    assert len(noted.found(query)) <= len(NOTES)


@pytest.mark.spec("memory_search.operators")
def test_operators_say_what_is_found(desk: Desk) -> None:
    for title, text in (
        ("Both", "alpha beta"),
        ("Alpha", "only alpha"),
        ("Beta", "only beta"),
        ("Apart", "beta alpha"),
    ):
        desk.add(title, text)

    assert set(desk.found("alpha AND beta")) == {"Both", "Apart"}
    assert set(desk.found("beta NOT alpha")) == {"Beta"}
    assert set(desk.found('"alpha beta"')) == {"Both"}
    assert len(desk.found("alpha OR beta")) == 4


@pytest.mark.parametrize("query", ["Settings", "settings", "[[Settings]]", '"settings"'])
def test_the_memory_of_that_title_comes_first(desk: Desk, query: str) -> None:
    desk.add("Other settings", "settings settings settings", importance_score=3.0)
    desk.add("Settings", "Nothing else. " * 50)

    assert desk.found(query)[0] == "Settings"


def test_what_has_all_words_comes_before_what_has_some(desk: Desk) -> None:
    desk.add("Some", "bernoulli bernoulli bernoulli bernoulli", importance_score=10)
    desk.add("All", "the bernoulli principle " + "and other words " * 40)

    assert desk.found("bernoulli principle") == ["All", "Some"]


@pytest.mark.spec("memory_search.rank", "memory_search.boost-counts", "memory_search.importance-counts")
def test_boost_and_importance_move_equal_texts(desk: Desk) -> None:
    plain, boosted, important = (desk.add(title, "bernoulli principle").id for title in ("Note a", "Note b", "Note c"))
    desk.put(replace(desk.memory(boosted), boost=8.0))
    desk.put(replace(desk.memory(important), importance_score=2.0))

    page = desk.searcher.search(LOCAL_ADMIN, "bernoulli", MemoryFilter())

    ranks = {it.memory.id: it.rank for it in page.found}
    assert ranks[boosted] == pytest.approx(ranks[plain] + 4.0)
    assert ranks[important] == pytest.approx(2 * ranks[plain])
    assert [it.memory.id for it in page.found] == sorted(ranks, key=lambda id_: (-ranks[id_], id_))


@pytest.mark.spec("memory_search.project_id", "memory_search.category", "memory_search.layer", "memory_search.status")
def test_filters_narrow_a_search(desk: Desk) -> None:
    desk.add("Here", "bernoulli")
    desk.add("Shared", "bernoulli", project="_global")
    desk.add("There", "bernoulli", project="beta")
    desk.add("Layered", "bernoulli", layer="semantic", category="decision")
    gone = desk.add("Gone", "bernoulli")
    desk.put(replace(desk.memory(gone.id), status=Status.ARCHIVED))

    def found(where: MemoryFilter) -> set[str]:
        return set(desk.found("bernoulli", where))

    assert found(MemoryFilter(project_id="alpha")) == {"Here", "Shared", "Layered"}
    assert found(MemoryFilter(category="decision")) == {"Layered"}
    assert found(MemoryFilter(layers=frozenset({Layer.SEMANTIC}))) == {"Layered"}
    assert found(MemoryFilter(statuses=frozenset({Status.ARCHIVED}))) == {"Gone"}
    assert "Gone" not in found(MemoryFilter())


@pytest.mark.spec("memory_search.limit")
def test_pages_follow_each_other_without_gap_or_repeat(desk: Desk) -> None:
    drafts = [MemoryDraft(f"Note {n}", "bernoulli " * (n % 7 + 1), "note", importance_score=n % 3) for n in range(130)]
    desk.add_all(*(replace(draft, is_auto_linked=False) for draft in drafts), links_within=False)
    paged = list[str]()
    offset: int | None = 0

    while offset is not None:
        page = desk.searcher.search(LOCAL_ADMIN, "bernoulli note", MemoryFilter(), limit=30, offset=offset)
        paged.extend(it.memory.title for it in page.found)
        offset = page.next_offset

    assert sorted(paged) == sorted(draft.title for draft in drafts)
    assert paged[:100] == desk.found("bernoulli note", limit=100)


@pytest.mark.spec("memory_search.limit", "memory_recent.limit")
def test_a_page_has_at_most_a_hundred_with_a_warning(desk: Desk) -> None:
    desk.add_all(*(MemoryDraft(f"N{n}", "word", "note", is_auto_linked=False) for n in range(101)), links_within=False)

    found = desk.searcher.search(LOCAL_ADMIN, "word", MemoryFilter(), limit=500)
    recent = desk.searcher.recent(LOCAL_ADMIN, MemoryFilter(), limit=500)

    assert len(found.found) == len(recent.memories) == 100
    assert found.next_offset == recent.next_offset == 100
    assert "limit" in found.warnings[0]
    assert recent.warnings == found.warnings
    for limit, offset in ((0, 0), (-1, 0), (1, -1)):
        with pytest.raises(InvalidRequest):
            desk.searcher.search(LOCAL_ADMIN, "word", MemoryFilter(), limit=limit, offset=offset)


@pytest.mark.spec("memory_search.snippet", "memory_search.no-access")
def test_a_hit_has_a_snippet_and_is_no_access(desk: Desk) -> None:
    added = desk.add("Long", "Filler words here. " * 100 + "The bernoulli principle holds. " + "More filler. " * 100)

    (found,) = desk.searcher.search(LOCAL_ADMIN, "bernoulli", MemoryFilter()).found

    assert "bernoulli principle" in found.snippet
    assert len(found.snippet) < 300
    assert desk.memory(added.id).access_count == 0


@pytest.mark.spec("memory_get.fields", "memory_get.counts-access", "memory_get.counts-synapse-access")
def test_opening_counts_as_an_access_of_the_memory_and_its_links(desk: Desk) -> None:
    target = desk.add("Target", tags=["a", "b"])
    author = desk.add("Author", "[[Target]]", is_auto_linked=False)
    desk.pass_days(1)

    opened = [desk.searcher.get(LOCAL_ADMIN, target.id) for _ in range(2)][-1]

    assert opened.memory == desk.memory(target.id)
    assert (opened.memory.access_count, opened.memory.accessed_at) == (2, desk.now)
    assert opened.memory.tags == ("a", "b")
    (synapse,) = desk.synapses(author.id)
    assert (synapse.access_count, synapse.cycle_access_count, synapse.accessed_at) == (2, 2, desk.now)
    assert desk.memory(author.id).access_count == 0


@pytest.mark.spec("memory_get.include_synapses")
def test_links_are_shown_when_asked_for_heaviest_first(desk: Desk) -> None:
    target, other = desk.add("Target"), desk.add("Other")
    author = desk.add("Author", "[[Target]] [[Target]]", is_auto_linked=False)
    desk.link(other.id, author.id, 3.0)

    shown = desk.searcher.get(LOCAL_ADMIN, author.id, include_synapses=True)
    hidden = desk.searcher.get(LOCAL_ADMIN, author.id)

    assert [(it.other_id, it.other_title, it.synapse.weight) for it in shown.synapses] == [
        (other.id, "Other", 3.0),
        (target.id, "Target", 1.5),
    ]
    assert hidden.synapses == ()
    assert shown.synapse_count == hidden.synapse_count == 2


@pytest.mark.spec("memory_get.missing")
def test_a_missing_memory_is_an_error_that_says_what_to_call(desk: Desk) -> None:
    with pytest.raises(NotFound, match="memory_search"):
        desk.searcher.get(LOCAL_ADMIN, 999_999)


@pytest.mark.spec("memory_recent.order", "memory_recent.filters")
def test_the_newest_come_first(desk: Desk) -> None:
    for number, lifecycle in enumerate(("permanent", "milestone", "permanent")):
        desk.pass_days(1)
        desk.add(f"Note {number}", lifecycle=lifecycle)

    def titles(where: MemoryFilter) -> Sequence[str]:
        return [it.title for it in desk.searcher.recent(LOCAL_ADMIN, where).memories]

    assert titles(MemoryFilter()) == ["Note 2", "Note 1", "Note 0"]
    assert titles(MemoryFilter(lifecycles=frozenset({Lifecycle.PERMANENT}))) == ["Note 2", "Note 0"]
    assert titles(MemoryFilter(project_id="beta")) == []


@pytest.mark.spec("memory_overview.total", "memory_overview.breakdowns", "memory_overview.recent")
@pytest.mark.spec("memory_overview.total_synapses")
def test_the_overview_counts_everything(desk: Desk) -> None:
    first = desk.add("First", layer="semantic", category="decision")
    desk.put(replace(desk.memory(first.id), status=Status.ARCHIVED))
    for number in range(6):
        desk.pass_days(1)
        desk.add(f"Note {number}", "[[First]]", project="beta", is_auto_linked=False)

    overview = desk.orient.overview(LOCAL_ADMIN)

    assert overview.total == 7
    assert overview.by_status == {"active": 6, "archived": 1}
    assert overview.by_layer == {"episodic": 6, "semantic": 1}
    assert overview.by_category == {"note": 6, "decision": 1}
    assert overview.by_project == {"beta": 6, "alpha": 1}
    assert [it.title for it in overview.recent] == [f"Note {number}" for number in (5, 4, 3, 2, 1)]
    assert overview.total_synapses == 6


def test_an_empty_store_has_an_overview() -> None:
    overview = Desk(ReferenceStore()).orient.overview(LOCAL_ADMIN)

    assert (overview.total, overview.recent, overview.total_synapses) == (0, (), 0)
