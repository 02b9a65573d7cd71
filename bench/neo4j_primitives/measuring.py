"""What a section reports, and times in milliseconds."""

import time
from collections.abc import Callable, Sequence

Report = dict[str, object]


def spread(waits: Sequence[float]) -> Report:
    ordered = sorted(waits)
    p50, p99 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    return {"count": len(ordered), "p50": round(p50, 1), "p99": round(p99, 1), "max": round(ordered[-1], 1)}


def timed(act: Callable[[], object], repeats: int = 15) -> float:
    """Return the median of `repeats` runs after two unmeasured ones, in milliseconds."""
    waits = []
    for _ in range(repeats + 2):
        began = time.perf_counter()
        act()
        waits.append((time.perf_counter() - began) * 1e3)
    return round(sorted(waits[2:])[repeats // 2], 1)
