"""Forgetting for good: one source erased from the store, from what lies beside it, and from the backups.

The order makes it safe to be interrupted. Tombstones come first, so that nobody learns it again meanwhile; then what
lies beside the store, which is found by what the store says; then the rows; in the end the backups and the pages of
the store's files, which need nothing but the tombstones. A mark in the home tells that this end was not reached, and
`finish` goes on from there.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from graph_memory.domain.audit import audit_event
from graph_memory.domain.errors import InvalidRequest, NotFound, Unavailable
from graph_memory.domain.forgetting import CopyCounts, Reach
from graph_memory.domain.ledger import Tombstone
from graph_memory.domain.policy import GraphPolicy
from graph_memory.domain.principal import LOCAL_TENANT, Principal
from graph_memory.ports.backups import Backups
from graph_memory.ports.copies import Copies
from graph_memory.ports.store import Store, WriteTransaction
from graph_memory.services.erasing import apply_erasure
from graph_memory.services.erasure import Erasure, plan_erasure
from graph_memory.services.forgotten_rows import SurvivingRows, every_tombstone

EXAMPLES = 10
"""Titles and names that a preview shows."""
_OPEN_ENDED = frozenset({"source_session", "project", "dates"})
"""Reaches that are kept in mind although nothing of them is known yet."""


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What was forgotten, or would be: counts, never words, but for the `examples` of a preview.

    `recomputed` counts the entities and relations that others support too. `backups` are those that were rewritten, or
    would be looked through; `unreadable_backups` those that were removed since nobody can tell what they hold.
    `problems` say what is not erased yet.
    """

    reach: Reach
    is_executed: bool
    is_found: bool
    memories: int = 0
    documents: int = 0
    entities: int = 0
    relations: int = 0
    recomputed: int = 0
    tombstones: int = 0
    named_in: int = 0
    copies: CopyCounts = CopyCounts()  # noqa: RUF009 - frozen
    backups: int = 0
    unreadable_backups: int = 0
    examples: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def is_open_ended(self) -> bool:
        """Tell whether what comes of the source later is not learned either."""
        return self.reach.kind in _OPEN_ENDED


class Forget:
    """Forgets sources of one home; `backups` and `copies` belong to the owner of the machine."""

    def __init__(
        self, store: Store, clock: Callable[[], datetime], policy: GraphPolicy, backups: Backups, copies: Copies
    ) -> None:
        self._store, self._clock, self._policy = store, clock, policy
        self._backups, self._copies = backups, copies

    def preview(self, principal: Principal, reach: Reach) -> Forgetting:
        """Tell what forgetting would take, and change nothing.

        Raises:
            InvalidRequest: the reach is none.
        """
        reach = reach.checked()
        erasure = self._plan(principal, reach)
        is_owner = principal.tenant == LOCAL_TENANT
        return _told(
            erasure,
            is_executed=False,
            copies=self._copies.count(erasure.source) if is_owner else CopyCounts(),
            backups=len(self._backups.every_file()) if is_owner else 0,
            examples=_examples(erasure),
        )

    def execute(self, principal: Principal, reach: Reach, *, has_reason: bool = False) -> Forgetting:
        """Forget all that came from one source; done again it finds nothing, and erases what is left of it elsewhere.

        What can't be erased now, since others use it, is told in `problems`, and `finish` tries again.

        Raises:
            InvalidRequest: the reach is none.
            Unavailable: the store can't take it now.
        """
        reach = reach.checked()
        is_owner = principal.tenant == LOCAL_TENANT
        planned = self._plan(principal, reach)
        if planned.is_empty and reach.kind not in _OPEN_ENDED:
            return self._ended(principal, planned, CopyCounts(), is_owner=is_owner)
        if is_owner:
            self._copies.begin()
        self._store.write(principal, lambda tx: tx.ledger.put_tombstones(planned.tombstones))
        before = self._copies.erase(planned.source) if is_owner else CopyCounts()
        erasure = self._erase_rows(principal, reach, planned, has_reason=has_reason)
        after = self._copies.erase(erasure.source) if is_owner else CopyCounts()
        return self._ended(principal, erasure, before.plus(after), is_owner=is_owner)

    def is_unfinished(self) -> bool:
        """Tell whether somebody was forgetting and did not come to the end."""
        return self._copies.is_begun()

    def finish(self, principal: Principal) -> tuple[str, ...]:
        """Bring what is forgotten out of backups and files; return what can't be erased now.

        Raises:
            Unavailable: the store can't be asked.
        """
        problems: list[str] = []
        self._clean_backups(principal, problems)
        self._clean_store(problems)
        if not problems:
            self._copies.finish()
        return tuple(problems)

    def _plan(self, principal: Principal, reach: Reach) -> Erasure:
        now = self._clock()
        is_owner = principal.tenant == LOCAL_TENANT
        waiting = self._copies.waiting_keys(reach) if is_owner else frozenset[str]()
        return self._store.read(principal, lambda tx: plan_erasure(tx, reach, now, self._policy, waiting))

    def _erase_rows(self, principal: Principal, reach: Reach, planned: Erasure, *, has_reason: bool) -> Erasure:
        now = self._clock()
        waiting = planned.waiting.union(planned.source.documents)

        def work(tx: WriteTransaction) -> Erasure:
            erasure = plan_erasure(tx, reach, now, self._policy, waiting)
            apply_erasure(tx, erasure, now)
            data = {"reach": reach.kind, "has_reason": has_reason, **_figures(erasure)._asdict()}
            tx.upkeep.add_audit([audit_event("forgotten", now, data)])
            return erasure

        return self._store.write(principal, work)

    def _ended(self, principal: Principal, erasure: Erasure, copies: CopyCounts, *, is_owner: bool) -> Forgetting:
        problems: list[str] = []
        rewritten, removed = self._clean_backups(principal, problems) if is_owner else (0, 0)
        self._clean_store(problems)
        if is_owner and not problems:
            self._copies.finish()
        return _told(
            erasure,
            is_executed=True,
            copies=copies,
            backups=rewritten,
            unreadable_backups=removed,
            problems=tuple(problems),
        )

    def _clean_backups(self, principal: Principal, problems: list[str]) -> tuple[int, int]:
        """Rewrite the backups that hold something forgotten; return how many, and how many unreadable ones went."""
        stones = self._store.read(principal, lambda tx: list(every_tombstone(tx)))
        rewritten = removed = 0
        for file in self._backups.every_file():
            try:
                rewritten += clean_backup(self._backups, file, stones, self._policy)
            except NotFound:  # its time had come
                continue
            except InvalidRequest:
                self._backups.remove(file)
                removed += 1
            except Unavailable as error:
                problems.append(str(error))
        return rewritten, removed

    def _clean_store(self, problems: list[str]) -> None:
        try:
            self._store.erase_traces()
        except Unavailable as error:
            problems.append(f"the store's files: {error}")


def clean_backup(backups: Backups, file: str, tombstones: Iterable[Tombstone], policy: GraphPolicy) -> bool:
    """Rewrite a backup without what was forgotten, with the tombstones; tell whether that was needed.

    Raises:
        NotFound: it is gone.
        InvalidRequest: it can't be read.
        Unavailable: it can't be written.
    """
    left = SurvivingRows(lambda: backups.stored(file), tombstones, policy)
    if left.is_whole:
        return False
    backups.rewrite(file, left.stored(with_tombstones=True))
    return True


def _told(
    erasure: Erasure,
    *,
    is_executed: bool,
    copies: CopyCounts,
    backups: int,
    unreadable_backups: int = 0,
    examples: tuple[str, ...] = (),
    problems: tuple[str, ...] = (),
) -> Forgetting:
    return Forgetting(
        reach=erasure.reach,
        is_executed=is_executed,
        is_found=not erasure.is_empty or copies != CopyCounts(),
        tombstones=len(erasure.tombstones),
        named_in=erasure.named_in,
        copies=copies,
        backups=backups,
        unreadable_backups=unreadable_backups,
        examples=examples,
        problems=problems,
        **_figures(erasure)._asdict(),
    )


class _Figures(NamedTuple):
    """How much of the store goes, or changes."""

    memories: int
    documents: int
    entities: int
    relations: int
    recomputed: int


def _figures(erasure: Erasure) -> _Figures:
    loss = erasure.loss
    return _Figures(
        len(erasure.memories),
        len(erasure.items),
        len(loss.gone_entities),
        len(loss.gone_relations),
        len(loss.entities) + len(loss.relations),
    )


def _examples(erasure: Erasure) -> tuple[str, ...]:
    titles = [it.title for _, it in sorted(erasure.memories.items())]
    names = [erasure.entities[it].name for it in sorted(erasure.loss.gone_entities) if it in erasure.entities]
    return tuple([*titles, *names][:EXAMPLES])
