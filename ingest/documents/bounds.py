"""What reading one document may cost."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """Ceilings for the process that reads a document of a kind whose readers are others'.

    `seconds` are of a processor, `megabytes` what the process may hold, `characters` what it may say. `is_cancelled` is
    asked now and then.
    """

    seconds: float = 120.0
    megabytes: int = 512
    characters: int = 67_108_864
    is_cancelled: Callable[[], bool] = lambda: False
