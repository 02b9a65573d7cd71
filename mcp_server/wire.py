"""Values as they stand on the wire, shared by the tools."""

from datetime import datetime

from graph_memory.domain.instants import parse_instant, to_wire

_DIGITS = 6


def number(value: float) -> float:
    """Round a weight, a confidence or a score to six decimals: what a float's noise is below."""
    return round(value, _DIGITS)


def instant(at: datetime | None) -> str | None:
    """Write an instant, or nothing."""
    return None if at is None else to_wire(at)


def read_instant(text: str | None, argument: str, warnings: list[str]) -> datetime | None:
    """Read an instant that a client wrote; what had to be guessed goes into `warnings`.

    Raises:
        InvalidRequest: it can't be read.
    """
    if text is None:
        return None
    parsed = parse_instant(text, argument=argument)
    if parsed.warning is not None:
        warnings.append(parsed.warning)
    return parsed.at


_LARGEST_SHOWN = 1e300
"""Whole numbers have no bound in JSON, and beyond this no short form."""


def clamp(value: float, low: float, high: float, argument: str, warnings: list[str]) -> float:
    """Bring a number into its bounds; that it was outside goes into `warnings`."""
    inside = min(high, max(low, value))
    if inside != value:
        shown = f"{value:g}" if abs(value) < _LARGEST_SHOWN else "a number of that size"
        warnings.append(f"{argument}: {shown} is outside {low:g}..{high:g} and was taken as {inside:g}")
    return inside


def clamp_int(value: int, low: int, high: int, argument: str, warnings: list[str]) -> int:
    """Bring a count into its bounds; that it was outside goes into `warnings`."""
    return int(clamp(value, low, high, argument, warnings))
