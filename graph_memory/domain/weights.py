"""What a contribution does to a weight or a confidence."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from graph_memory.domain.decay import decayed
from graph_memory.domain.entities import Evidence, EvidenceKind, SourceType


@dataclass(frozen=True, slots=True)
class WeightPolicy:
    """The weights of statements for which none is given, and the sizes of small changes; all in 0–1."""

    explicit_statement: float = 0.7
    inferred: float = 0.3
    from_memory_file: float = 0.5
    boost_on_confirm: float = 0.15
    boost_on_mention: float = 0.05
    weaken_on_correct: float = 0.3
    project_context_boost: float = 0.10

    def initial(self, source: SourceType) -> float:
        """Return the weight of a first statement from such a source."""
        match source:
            case SourceType.CONVERSATION | SourceType.MANUAL:
                return self.explicit_statement
            case SourceType.DOCUMENT:
                return self.from_memory_file
            case SourceType.MENTION | SourceType.INFERRED:
                return self.inferred


def clamped(value: float) -> float:
    """Return the nearest weight in 0–1."""
    return min(1.0, max(0.0, value))


def changed(value: float, kind: EvidenceKind, amount: float) -> float:
    """Return a weight after a contribution: explicit ones take the larger, all others add or subtract; in 0–1."""
    match kind:
        case EvidenceKind.EXPLICIT:
            return max(value, clamped(amount))
        case EvidenceKind.MENTION | EvidenceKind.BOOST:
            return clamped(value + amount)
        case EvidenceKind.WEAKEN:
            return clamped(value - amount)


def folded(evidence: Iterable[Evidence], rate: float) -> tuple[float, datetime] | None:
    """Recompute a weight from its evidence: decay up to each contribution, then the change it makes.

    `evidence` is in order of `at`. Returns the weight and the instant it stands for; `None` without evidence.
    """
    state: tuple[float, datetime] | None = None
    for piece in evidence:
        before = 0.0 if state is None else decayed(state[0], rate, state[1], piece.at)
        state = (changed(before, piece.kind, piece.amount), piece.at)
    return state
