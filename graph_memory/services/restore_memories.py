"""The memory family of a backup, joined with what is there."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from graph_memory.domain.memories import (
    DecayRate,
    Memory,
    MemoryVersion,
    Mention,
    OpenLink,
    Synapse,
)
from graph_memory.domain.names import memory_slug, name_key, short_hash, suffixed_memory_slug
from graph_memory.ports.store import WriteTransaction


class MemoryImport:
    """Puts memories and their links back; numbers change only where other memories have them.

    A memory is known by its content key, else by its title and text in its project.
    """

    def __init__(self, tx: WriteTransaction) -> None:
        self._tx = tx
        self._ids: dict[int, int] = {}
        self._source_ids: dict[int, int | None] = {}
        self.added: Counter[str] = Counter()
        self.joined: Counter[str] = Counter()

    def memory_id(self, exported: int) -> int | None:
        """Return the number that an exported memory has here; `None` for one that was left out."""
        return self._ids.get(exported)

    def source_id(self, exported: int) -> int | None:
        """Return the number here of the memory that something was learned from; it need not be there any more.

        `None` where the number, of a memory that is in no backup, is another one's here.
        """
        if exported not in self._source_ids:
            is_free = exported not in self._ids and not self._tx.memories.find({exported})
            self._source_ids[exported] = exported if is_free else self._ids.get(exported)
        return self._source_ids[exported]

    def memory_ids(self, exported: Iterable[int]) -> tuple[int, ...]:
        """Return the numbers that exported memories have here, without those left out."""
        return tuple(here for it in exported if (here := self.memory_id(it)) is not None)

    def memories(self, rows: Sequence[Memory]) -> None:
        """Add memories that are not there."""
        keys = {it.content_key for it in rows if it.content_key is not None}
        by_key = self._tx.memories.find_by_content_key(keys)
        options = [(it, _retitled(it)) for it in rows]
        titles = {it.title_key for pair in options for it in pair}
        by_title = {(it.project_id, it.title_key): it for it in self._tx.memories.find_by_title(titles)}
        slugs = {option for pair in options for it in pair for option in (it.slug, suffixed_memory_slug(it.title))}
        taken_slugs = {(it.project_id, it.slug) for it in self._tx.memories.find_by_slug(slugs)}
        taken_ids = set(self._tx.memories.find({it.id for it in rows}))
        fresh: list[tuple[int, Memory]] = []
        for row, retitled in options:
            titled = [by_title.get((it.project_id, it.title_key)) for it in (row, retitled)]
            same = next((it for it in titled if it is not None and it.content == row.content), None)
            known = by_key.get(row.content_key or "") or same
            if known is not None:
                self._ids[row.id] = known.id
                self.joined["memory"] += 1
                continue
            new = row if titled[0] is None else retitled
            if (new.project_id, new.slug) in taken_slugs:
                new = replace(new, slug=suffixed_memory_slug(new.title))
            taken_slugs.add((new.project_id, new.slug))
            fresh.append((row.id, replace(new, id=0 if row.id in taken_ids else row.id)))
        # Those that keep their number go first, so that a new number can't be one of theirs.
        fresh.sort(key=lambda it: (it[1].id == 0, it[0]))
        numbers = self._tx.memories.add([it for _, it in fresh])
        self._ids.update(zip((exported for exported, _ in fresh), numbers, strict=True))
        self.added["memory"] += len(fresh)

    def versions(self, rows: Sequence[MemoryVersion]) -> None:
        """Add earlier texts that are not there."""
        moved = [replace(it, memory_id=here) for it in rows if (here := self.memory_id(it.memory_id)) is not None]
        known = set(self._tx.memories.versions({it.memory_id for it in moved}))
        fresh = [it for it in moved if it not in known]
        self._tx.memories.add_versions(fresh)
        self.added["memory_version"] += len(fresh)

    def synapses(self, rows: Sequence[Synapse]) -> None:
        """Add links; where one is there, the larger weight holds."""
        moved = []
        for row in rows:
            source, target = self.memory_id(row.source_id), self.memory_id(row.target_id)
            if source is not None and target is not None:
                moved.append(replace(row, source_id=source, target_id=target))
        known = self._tx.synapses.find({it.key for it in moved})
        fresh = [it for it in moved if it.key not in known or it.weight > known[it.key].weight]
        self._tx.synapses.put(fresh)
        self.added["synapse"] += sum(it.key not in known for it in fresh)

    def mentions(self, rows: Sequence[Mention], entity_id: Callable[[str], str]) -> None:
        """Add mentions that are not there; `entity_id` gives the id that an exported entity has here."""
        moved = [
            replace(it, memory_id=here, entity_id=entity_id(it.entity_id))
            for it in rows
            if (here := self.memory_id(it.memory_id)) is not None
        ]
        self.added["mention"] += self._tx.memories.add_mentions(moved)

    def open_links(self, rows: Sequence[OpenLink]) -> None:
        """Add links that nothing answers yet."""
        moved = [replace(it, memory_id=here) for it in rows if (here := self.memory_id(it.memory_id)) is not None]
        self._tx.memories.put_open_links(moved)
        self.added["open_link"] += len(moved)

    def decay_rates(self, rows: Sequence[DecayRate]) -> None:
        """Set the rows of the decay matrix."""
        self._tx.synapses.put_decay_rates(rows)
        self.added["decay_rate"] += len(rows)


def _retitled(row: Memory) -> Memory:
    """Give a memory whose title other content has a title of its own, that depends on its content alone."""
    title = f"{row.title} ({short_hash(name_key(row.title) + row.content)})"
    return replace(row, title=title, slug=memory_slug(title))
