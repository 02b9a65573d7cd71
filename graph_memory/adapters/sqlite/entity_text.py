"""What the text indexes hold of entities, and how they are asked."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from graph_memory.adapters.sqlite.filters import entities_that
from graph_memory.adapters.sqlite.rows import from_json, list_from_json, listed
from graph_memory.adapters.sqlite.session import Session, composed
from graph_memory.adapters.sqlite.text import any_of, expression, runs_of
from graph_memory.domain.entities import EntityFilter
from graph_memory.domain.names import name_key
from graph_memory.domain.queries import TextHit, TextQuery

_SOURCE = """
    select entities.pk, entities.name, entities.properties,
        (select json_group_array(aliases.name) from aliases where aliases.entity = entities.pk)
    from json_each(?) as wanted
    cross join entities on entities.tenant = ? and entities.id = wanted.value
"""
_PUT_WORDS = "insert or replace into entities_fts$index (rowid, name, aliases, properties, runs) values (?, ?, ?, ?, ?)"
_PUT_RUNS = "insert or replace into entities_runs$index (rowid, names) values (?, ?)"
_DELETE_WORDS = "delete from entities_fts$index where rowid = ?"
_DELETE_RUNS = "delete from entities_runs$index where rowid = ?"
_SEARCH = """
    select entities.id, -found.rank from entities_fts$index as found
    cross join entities on entities.pk = found.rowid
    where found.entities_fts$index match :query and entities.tenant = :tenant and $where
    order by found.rank limit :limit
"""
_SIMILAR = """
    select entities.id, found.names from entities_runs$index as found
    cross join entities on entities.pk = found.rowid
    where found.entities_runs$index match :query and entities.tenant = :tenant and $where
    order by found.rank limit :limit
"""
_FREQUENCY = """
    select wanted.value, parts.doc from json_each(?) as wanted
    cross join entities_parts$index as parts on parts.term = wanted.value
    order by parts.doc, wanted.value
"""
_MAX_RUNS = 64
_MIN_RUNS = 3
_BUDGET = 4_000
"""How many entities a search for similar names may touch: the rarest runs come first, and they tell the most."""
_CANDIDATES = 20
"""How many more entities are looked at for each that is wanted: the index ranks by its own measure, not by share."""
_MIN_SHARE = 0.5


def renew_text(session: Session, ids: Collection[str]) -> None:
    """Index these entities anew, from their rows and aliases."""
    if not ids:
        return
    words, runs = [], []
    for pk, name, properties, alias_names in session.rows(_SOURCE, (listed(ids), session.tenant)):
        names = [name, *list_from_json(alias_names)]
        texts = list(_texts_within(from_json(properties)))
        words.append((pk, name, "\n".join(names[1:]), "\n".join(texts), runs_of(*names, *texts)))
        runs.append((pk, "\n".join(map(_padded, dict.fromkeys(map(name_key, names))))))
    session.run_many(composed(_PUT_WORDS, index=session.index), words)
    session.run_many(composed(_PUT_RUNS, index=session.index), runs)


def forget_text(session: Session, keys: Iterable[int]) -> None:
    """Take entities out of the indexes, by their keys in the file."""
    rows = [(key,) for key in keys]
    session.run_many(composed(_DELETE_WORDS, index=session.index), rows)
    session.run_many(composed(_DELETE_RUNS, index=session.index), rows)


def find_by_text(session: Session, query: TextQuery, where: EntityFilter, limit: int) -> Sequence[TextHit[str]]:
    """Find entities whose names, aliases or properties match `query.strict`, else `query.loose`; best first."""
    condition = entities_that(where)
    statement = composed(_SEARCH, index=session.index, where=condition.sql)
    for clause in (query.strict, query.loose):
        if (match := expression(clause, session.connection)) is None:
            continue
        values = {"query": match, "tenant": session.tenant, "limit": limit, **condition.values}
        if rows := session.rows(statement, values):
            hits = [TextHit(id_, score) for id_, score in rows]
            return sorted(hits, key=lambda hit: (-hit.score, hit.ref))
    return []


def find_by_runs(session: Session, name: str, where: EntityFilter, limit: int) -> Sequence[str]:
    """Find entities with a name that shares at least half of the shorter one's runs of three letters, closest first."""
    key = name_key(name)
    wanted = _runs_of_three(_padded(key))
    if not key or limit <= 0:
        return []
    if not (runs := _telling_runs(session, wanted)):
        return []
    condition = entities_that(where)
    values = {
        "query": any_of(runs),
        "tenant": session.tenant,
        "limit": limit * _CANDIDATES,
        **condition.values,
    }
    rows = session.rows(composed(_SIMILAR, index=session.index, where=condition.sql), values)
    shares = {id_: max(_share(wanted, _runs_of_three(other)) for other in names.split("\n")) for id_, names in rows}
    close = sorted((-share, id_) for id_, share in shares.items() if share >= _MIN_SHARE)
    return [id_ for _, id_ in close[:limit]]


def _telling_runs(session: Session, runs: Collection[str]) -> list[str]:
    """Choose the rarest of these runs; a name that shares most of them has some of the rarest, too."""
    step = 1 + len(runs) // _MAX_RUNS
    rows = session.rows(composed(_FREQUENCY, index=session.index), (listed(sorted(runs)[::step]),))
    chosen: list[str] = []
    touched = 0
    for run, count in rows:
        touched += count
        if touched > _BUDGET and len(chosen) >= _MIN_RUNS:
            break
        chosen.append(run)
    return chosen


def _padded(key: str) -> str:
    return f" {key} "


def _runs_of_three(padded: str) -> frozenset[str]:
    return frozenset(padded[start : start + 3] for start in range(len(padded) - 2))


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / min(len(one), len(other))


def _texts_within(value: object) -> Iterator[str]:
    """Walk JSON for the texts in it, names of properties aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts_within(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts_within(part)
