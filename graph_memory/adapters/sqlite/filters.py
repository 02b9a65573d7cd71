"""The filters of the domain as conditions on rows; each means exactly what its `matches` does."""

from collections.abc import Collection
from dataclasses import dataclass, field

from graph_memory.adapters.sqlite.rows import listed
from graph_memory.adapters.sqlite.session import Value, composed
from graph_memory.domain.entities import EntityFilter
from graph_memory.domain.instants import to_micros
from graph_memory.domain.memories import MemoryFilter, SynapseFilter
from graph_memory.domain.relations import RelationFilter


@dataclass(slots=True)
class Condition:
    """Conditions that all hold, written in constant texts, and the values bound in them."""

    parts: list[str] = field(default_factory=list)
    values: dict[str, Value] = field(default_factory=dict)

    def add(self, text: str, **values: Value) -> None:
        """Add a condition with the values it names."""
        self.parts.append(text)
        self.values |= values

    @property
    def sql(self) -> str:
        """The conditions as one that can follow `where` or `and`."""
        return " and ".join(self.parts) or "true"


def entities_that(where: EntityFilter) -> Condition:
    """Translate a filter for rows named `entities`."""
    condition = Condition()
    if where.ids is not None:
        condition.add("entities.id in (select value from json_each(:ids))", ids=listed(where.ids))
    if where.type_keys is not None:
        types = "entities.type_key in (select value from json_each(:type_keys))"
        condition.add(types, type_keys=_list(where.type_keys))
    if where.min_confidence > 0:
        condition.add("entities.confidence >= :min_confidence", min_confidence=where.min_confidence)
    if where.seen_before is not None:
        condition.add("entities.last_seen < :seen_before", seen_before=to_micros(where.seen_before))
    if where.created_since is not None:
        condition.add("entities.created_at >= :created_since", created_since=to_micros(where.created_since))
    if where.is_orphan is not None:
        condition.add(_IS_LINKED if not where.is_orphan else f"not {_IS_LINKED}")
    if where.session is not None:
        condition.add(_HAS_SESSION, session=where.session)
    return condition


def relations_that(where: RelationFilter) -> Condition:
    """Translate a filter for rows named `relations`."""
    condition = Condition()
    if where.type_keys is not None:
        types = "relations.type_key in (select value from json_each(:type_keys))"
        condition.add(types, type_keys=_list(where.type_keys))
    if where.min_weight > 0:
        condition.add("relations.weight >= :min_weight", min_weight=where.min_weight)
    if where.max_weight is not None:
        condition.add("relations.weight <= :max_weight", max_weight=where.max_weight)
    if where.current_only:
        condition.add("relations.past_id = ''")
    return condition


def memories_that(where: MemoryFilter) -> Condition:
    """Translate a filter for rows named `memories`."""
    condition = Condition()
    sets: tuple[tuple[str, Collection[str] | None], ...] = (
        ("project_id", where.projects),
        ("layer", where.layers),
        ("lifecycle", where.lifecycles),
        ("status", where.statuses),
    )
    for column, allowed in sets:
        if allowed is not None:
            condition.add(composed(_IS_ONE_OF, column=column), **{column: _list(allowed)})
    if where.category is not None:
        condition.add("memories.category = :category", category=where.category)
    if where.session_id is not None:
        condition.add("memories.session_id = :session_id", session_id=where.session_id)
    if where.source_file is not None:
        condition.add("memories.source_file = :source_file", source_file=where.source_file)
    if where.updated_since is not None:
        condition.add("memories.updated_at >= :updated_since", updated_since=to_micros(where.updated_since))
    if where.created_since is not None:
        condition.add("memories.created_at >= :created_since", created_since=to_micros(where.created_since))
    if where.created_before is not None:
        condition.add("memories.created_at < :created_before", created_before=to_micros(where.created_before))
    return condition


def synapses_that(where: SynapseFilter) -> Condition:
    """Translate a filter for rows named `synapses`, its direction left aside."""
    condition = Condition()
    if where.connection_types is not None:
        types = "synapses.connection_type in (select value from json_each(:connection_types))"
        condition.add(types, connection_types=_list(where.connection_types))
    if where.min_weight > 0:
        condition.add("synapses.weight >= :min_weight", min_weight=where.min_weight)
    return condition


_IS_ONE_OF = "memories.$column in (select value from json_each(:$column))"
_IS_LINKED = """(
    exists (select 1 from relations as leaving where leaving.source = entities.pk and leaving.past_id = '')
    or exists (select 1 from relations as entering where entering.target = entities.pk and entering.past_id = '')
)"""
_HAS_SESSION = """entities.pk in (
    select subject from entity_evidence as evidence
    where evidence.tenant = entities.tenant and evidence.session = :session
)"""


def _list(values: Collection[str]) -> str:
    return listed([str(value) for value in values])
