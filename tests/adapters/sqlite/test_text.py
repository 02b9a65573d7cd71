"""What the text indexes of this store find, and that they keep in step with the rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_memory.adapters.sqlite.connection import open_connection
from graph_memory.adapters.sqlite.session import Session
from graph_memory.adapters.sqlite.store import SqliteStore
from graph_memory.adapters.sqlite.terms import CommonTerms, renew
from graph_memory.adapters.sqlite.text import expression, runs_of, scope_word, tokens
from graph_memory.domain.entities import Alias
from graph_memory.domain.memories import MemoryFilter
from graph_memory.domain.queries import Clause, Operator, Term, TextQuery
from tests.contract.samples import ALL, ANY_ENTITY, ANY_MEMORY, entity, memory, query
from tests.contract.stores import Caller, caller

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from graph_memory.domain.memories import Memory
    from graph_memory.ports.store import ReadTransaction, WriteTransaction


@pytest.fixture(scope="module")
def blank() -> Iterator[apsw.Connection]:
    """A connection for what needs a tokenizer and no rows."""
    connection = apsw.Connection(":memory:")
    connection.execute("""create virtual table texts using fts5 (
        words, runs, tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
    )""")
    yield connection
    connection.close()


def found(alice: Caller, *words: str, where: MemoryFilter = ANY_MEMORY) -> list[int]:
    return [hit.ref for hit in alice.read(lambda tx: tx.memories.search(query(*words), where, ALL))]


def similar(alice: Caller, name: str, limit: int = 3) -> list[str]:
    return [one.id for one in alice.read(lambda tx: tx.entities.find_similar_names(name, ANY_ENTITY, limit))]


def rare(alice: Caller, text: str) -> list[str]:
    return list(alice.read(lambda tx: tx.memories.rare_terms(text, ALL)))


# ------------------------------------------------------------------------------------------------------ expressions

terms = st.builds(Term, st.text(max_size=12), st.booleans())
clauses = st.recursive(
    st.builds(Clause, st.sampled_from(Operator), st.lists(terms, max_size=4).map(tuple)),
    lambda inner: st.builds(
        Clause,
        st.sampled_from(Operator),
        st.lists(terms | inner, max_size=4).map(tuple),
        st.lists(terms | inner, max_size=2).map(tuple),
    ),
    max_leaves=8,
)


@settings(max_examples=500)
@given(clause=clauses)
def test_no_text_can_break_an_expression(blank: apsw.Connection, clause: Clause) -> None:
    match = expression(clause, blank)
    if match is not None:
        blank.execute("select rowid from texts where texts match ?", (match,)).fetchall()


@pytest.mark.parametrize(
    "text", ['"', "'", "*", "a*", "AND", "OR NOT", "NEAR(a b, 2)", "words : x", "^a", "a\0b", "-a", "{a}"]
)
def test_operators_of_the_engine_are_words(blank: apsw.Connection, text: str) -> None:
    match = expression(Clause(Operator.AND, (Term(text), Term("other"))), blank)
    assert match is not None
    blank.execute("select rowid from texts where texts match ?", (match,)).fetchall()


def test_terms_without_a_word_restrict_nothing(alice: Caller) -> None:
    alice.write(lambda tx: tx.memories.add([memory("a", content="fine")]))
    assert found(alice, "++", "fine", "(") == [1]
    assert found(alice, "++") == []


def test_a_long_query_and_a_deep_one_are_answered(alice: Caller) -> None:
    alice.write(lambda tx: tx.memories.add([memory("a", content="needle")]))
    many = tuple(Term(f"word{number}") for number in range(2_000))
    clause = Clause(Operator.OR, (*many, Term("needle")))
    for _ in range(16):
        clause = Clause(Operator.AND, (clause,), (Term("absent"),))
    hits = alice.read(lambda tx: tx.memories.search(TextQuery("", clause, None), ANY_MEMORY, ALL))
    assert [hit.ref for hit in hits] == [1]


# ------------------------------------------------------------------------------------------- scripts without spaces

CHINESE = "今天我们讨论数据库的设计和索引"
RUNS = [
    (CHINESE, "数据库", True),
    (CHINESE, "设计", True),
    (CHINESE, "库", True),
    (CHINESE, "引", True),
    (CHINESE, "据设", False),
    ("Python入門書", "Python入門", True),
    ("Python入門書", "python", True),
    ("Python入門書", "入門", True),
    ("入門Python", "入門Python", True),
    ("入門Python", "門py", False),
    ("データベースの設計", "ベース", True),
    ("ﾃﾞｰﾀﾍﾞｰｽ", "データ", True),
    ("한국어는 재미있다", "한국어", True),
    ("ภาษาไทยง่าย", "ไทย", True),
    ("東京と大阪", "京大", False),
    ("東京、京都", "京京", False),
    ("hello 日本", "hello 日本", True),
]


@pytest.mark.parametrize(("text", "word", "is_found"), RUNS)
def test_any_part_of_a_run_is_found(alice: Caller, text: str, word: str, is_found: bool) -> None:
    def work(tx: ReadTransaction) -> None:
        assert [hit.ref for hit in tx.memories.search(query(word), ANY_MEMORY, ALL)] == [1] * is_found
        assert [hit.ref for hit in tx.entities.search(query(word), ANY_ENTITY, ALL)] == ["e"] * is_found

    alice.write(lambda tx: tx.memories.add([memory("one", content=text), memory("two", content="else 其他")]))
    alice.write(lambda tx: tx.entities.put([entity("e", name=text), entity("f", name="else 其他")]))
    alice.read(work)


han = st.text(st.sampled_from("日本語数据库設計"), min_size=1, max_size=6)


@given(text=st.lists(han | st.sampled_from(["word", "x"]), max_size=4).map(" ".join), part=han)
def test_a_run_contains_what_the_text_contains(blank: apsw.Connection, text: str, part: str) -> None:
    with blank:
        blank.execute("delete from texts; insert into texts (words, runs) values (?, ?)", (text, runs_of(text)))
    match = expression(Clause(Operator.AND, (Term(part),)), blank)
    rows = blank.execute("select rowid from texts where texts match ?", (match,)).fetchall()
    assert bool(rows) == (part in text)


def test_most_texts_have_no_runs() -> None:
    assert runs_of("Ünïcödé and C++", "مرحبا", "नमस्ते") == ""


def test_words_keep_their_marks(blank: apsw.Connection) -> None:
    assert [token.surface for token in tokens(blank, "हिन्दी भाषा, cafe\u0301!")] == ["हिन्दी", "भाषा", "cafe\u0301"]


# ---------------------------------------------------------------------------------------------------------- tenants


def test_the_words_of_another_tenant_do_not_move_a_score(path: Path, store: SqliteStore) -> None:
    alice, bob = caller(store, "alice"), caller(store, "bob")
    alice.write(lambda tx: tx.memories.add([memory("one", content="secret plan"), memory("two", content="plan")]))

    def look(tx: ReadTransaction) -> object:
        hits = tx.memories.search(query("secret", "plan", loose=True), ANY_MEMORY, ALL)
        return hits, tx.memories.rare_terms("secret plan", ALL)

    before = alice.read(look)
    bob.write(lambda tx: tx.memories.add([memory(f"n{number}", content="secret secret") for number in range(30)]))
    assert alice.read(look) == before


def test_each_tenant_counts_its_own_memories(path: Path, store: SqliteStore) -> None:
    for tenant in ("local", "alice", "bob"):
        assert caller(store, tenant).write(lambda tx: tx.memories.add([memory("a"), memory("b")])) == [1, 2]


# ------------------------------------------------------------------------------------------------------------ terms


def test_words_are_found_in_any_inflection_and_returned_as_written(alice: Caller) -> None:
    alice.write(lambda tx: tx.memories.add([memory("a", content="Many databases were indexed")]))
    assert found(alice, "database", "index") == [1]
    assert rare(alice, "Databases indexed") == ["databases", "indexed"]
    assert found(alice, *rare(alice, "Databases indexed")) == [1], (
        "a stem would not be: the stem of `databas` is `databa`"
    )


def test_runs_have_telling_pairs(alice: Caller) -> None:
    alice.write(lambda tx: tx.memories.add([memory("a", content="数据库设计"), memory("b", content="数据")]))
    assert rare(alice, "数据库") == ["据库", "数据"]
    assert found(alice, "据库") == [1]


def test_the_common_set_is_read_again_when_another_process_renews_it(path: Path, store: SqliteStore) -> None:
    alice = caller(store, "alice")
    alice.write(lambda tx: tx.memories.add([memory(f"n{n}", content=f"common only{n}") for n in range(60)]))
    assert rare(alice, "common only1") == ["only1", "common"]
    other = SqliteStore(path)
    assert caller(other, "alice").write(lambda tx: tx.memories.renew_common_terms()) == 1
    other.close()
    assert rare(alice, "common only1") == ["only1"]


def test_a_common_set_of_a_write_that_failed_is_not_used(alice: Caller) -> None:
    alice.write(lambda tx: tx.memories.add([memory(f"n{n}", content=f"common only{n}") for n in range(60)]))
    with pytest.raises(ZeroDivisionError):
        alice.write(lambda tx: (tx.memories.renew_common_terms(), tx.memories.rare_terms("common", ALL), 1 // 0))
    assert rare(alice, "common") == ["common"]


def test_a_small_store_leaves_nothing_out(alice: Caller) -> None:
    alice.write(lambda tx: tx.memories.add([memory(f"n{n}", content="everywhere") for n in range(50)]))
    assert alice.write(lambda tx: tx.memories.renew_common_terms()) == 0


def test_an_empty_set_holds_no_word(path: Path, store: SqliteStore) -> None:
    connection = open_connection(path)
    session = Session(connection, 1, "")
    renew(session)
    assert CommonTerms().of(session) == frozenset()
    connection.close()


# ----------------------------------------------------------------------------------------------------- in step


def test_scope_words_are_one_word_each(blank: apsw.Connection) -> None:
    for project in ("_global", "a b-c", "日本", ""):
        assert [token.stem for token in tokens(blank, scope_word(project))] == [scope_word(project)]


def test_a_project_is_no_word_of_its_memories(alice: Caller) -> None:
    alice.write(lambda tx: tx.memories.add([memory("a", content="x", project_id="lemon")]))
    assert found(alice, "lemon") == []
    assert found(alice, scope_word("lemon")) == []


words = st.sampled_from(["lemon", "orbit", "kiwi", "日本"])
notes = st.builds(
    lambda number, content, tag, project: memory(
        f"n{number}", number, content, tags=(tag,), project_id=project, slug=f"n{number}"
    ),
    st.integers(1, 4),
    st.lists(words, max_size=3).map(" ".join),
    words,
    st.sampled_from(["p", "q"]),
)


def _apply(tx: WriteTransaction, step: Memory | int) -> None:
    if isinstance(step, int):
        tx.memories.delete([step])
    elif tx.memories.find([step.id]):
        tx.memories.put([step])
    else:
        tx.memories.add([step])


@settings(max_examples=40)
@given(steps=st.lists(notes | st.integers(1, 4), max_size=12))
def test_the_index_says_what_the_rows_say(tmp_path_factory: pytest.TempPathFactory, steps: list[Memory | int]) -> None:
    store = SqliteStore(tmp_path_factory.mktemp("steps") / "memory.db")
    alice = caller(store, "alice")
    for step in steps:
        alice.write(partial(_apply, step=step))
    assert store.integrity_problems() == ()
    alice.write(lambda tx: tx.memories.add([memory("last", 9, content="pear")]))
    assert found(alice, "pear") == [9]
    store.close()


def test_a_moved_memory_is_found_in_its_new_project_alone(alice: Caller) -> None:
    alice.write(lambda tx: tx.memories.add([memory("a", content="lemon", project_id="p")]))
    alice.write(lambda tx: tx.memories.put([memory("a", 1, "lemon", project_id="q")]))
    hits = {project: found(alice, "lemon", where=MemoryFilter(project)) for project in ("p", "q", None)}
    assert hits == {"p": [], "q": [1], None: [1]}


@pytest.mark.parametrize("typed", ["Postgers", "postgresq", "Postgress", "ostgres"])
def test_a_typo_finds_the_name(alice: Caller, typed: str) -> None:
    alice.write(lambda tx: tx.entities.put([entity("pg", name="Postgres"), *(entity(f"o{n}") for n in range(50))]))
    assert similar(alice, typed) == ["pg"]


def test_short_names_and_aliases_are_candidates(alice: Caller) -> None:
    alice.write(lambda tx: tx.entities.put([entity("go", name="Go"), entity("kube", name="Kubernetes")]))
    alice.write(lambda tx: tx.entities.put_aliases([Alias("kube", "k8s")]))
    assert similar(alice, "go") == ["go"]
    assert similar(alice, "K8") == ["kube"]
    alice.write(lambda tx: tx.entities.delete_aliases([Alias("kube", "K8S")]))
    assert similar(alice, "K8") == []


def test_names_full_of_common_runs_are_told_apart(alice: Caller) -> None:
    alice.write(lambda tx: tx.entities.put([entity(f"e{n}", name=f"graph memory part {n:04}") for n in range(3_000)]))
    assert similar(alice, "graph memory part 1234", 1) == ["e1234"]
