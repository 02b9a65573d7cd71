"""Which stored memories speak of the same as a text."""

from collections.abc import Sequence

from graph_memory.domain.linking import MAX_NEIGHBOURS
from graph_memory.domain.memories import Memory, MemoryFilter
from graph_memory.domain.queries import Clause, Operator, Term, TextHit, TextQuery
from graph_memory.domain.query_words import likely_rare
from graph_memory.ports.store import ReadTransaction

TELLING_TERMS = 8
"""Words of a text that are looked for; more cost time at large sizes and hardly change the choice."""
CANDIDATE_WORDS = 32
"""Words of a text whose rarity is looked up."""
READ_CHARS = 32_768
"""Characters of a text that its words are taken from."""


def find_alike(tx: ReadTransaction, memory: Memory) -> Sequence[TextHit[int]]:
    """Find the active memories of the same project that share the most informative words; best first.

    Best called before the text is stored: words that nobody else uses find nothing, and once it is stored they are
    among the rarest. So for a memory that is stored, which is left out of the answer, twice as many words are taken.
    """
    is_stored = memory.id != 0
    # Words like `of` are left out: two texts that share only these don't speak of the same, rare as they are at first.
    text = " ".join(likely_rare(f"{memory.title}\n{memory.content[:READ_CHARS]}", CANDIDATE_WORDS))
    terms = tx.memories.rare_terms(text, TELLING_TERMS * (1 + is_stored))
    if not terms:
        return ()
    query = TextQuery("", Clause(Operator.OR, tuple(Term(term) for term in terms)), None)
    where = MemoryFilter(project_id=memory.project_id, is_project_exact=True)
    hits = tx.memories.search(query, where, MAX_NEIGHBOURS + is_stored)
    return [hit for hit in hits if hit.ref != memory.id]
