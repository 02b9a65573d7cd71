"""All rows of a kind, a page at a time."""

from collections.abc import Iterator

from graph_memory.domain.entities import Entity, EntityFilter
from graph_memory.ports.graph_rows import Link
from graph_memory.ports.store import ReadTransaction

PAGE = 5_000


def every_entity(tx: ReadTransaction, where: EntityFilter) -> Iterator[Entity]:
    """Yield the entities that `where` means, by id."""
    after: str | None = None
    while page := tx.entities.page_by_id(where, after, PAGE):
        yield from page
        after = page[-1].id


def every_link(tx: ReadTransaction) -> Iterator[Link]:
    """Yield the current relations in the store's own order, without what they say."""
    after: str | None = None
    while True:
        links, after = tx.relations.scan_links(after, PAGE)
        yield from links
        if after is None:
            return
