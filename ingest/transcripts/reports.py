"""What a reading of a transcript met: counts for status, warnings for the audit."""

from collections import Counter
from dataclasses import dataclass, field

# Types and reasons come from files: a hostile one must not fill the audit with names.
_MAX_NAMES = 20
_MAX_NAME_LENGTH = 60
_OTHER = "(others)"


@dataclass(slots=True)
class ReadReport:
    """Counts of one reading; lines are counted whether or not they became messages.

    `end_offset` is where the next reading goes on, in bytes. `lines` are lines that aren't blank.
    """

    end_offset: int = 0
    lines: int = 0
    unparseable_lines: int = 0
    unfinished_lines: int = 0
    non_object_lines: int = 0
    session_id: str | None = None
    cwd: str | None = None
    skipped: Counter[str] = field(default_factory=Counter)
    repaired: Counter[str] = field(default_factory=Counter)
    unknown_types: Counter[str] = field(default_factory=Counter)

    def skip_unknown(self, kind: object) -> None:
        """Count a line of a type that no known version writes."""
        name = (
            kind[:_MAX_NAME_LENGTH].encode("ascii", "backslashreplace").decode() if isinstance(kind, str) else "(none)"
        )
        if name not in self.unknown_types and len(self.unknown_types) >= _MAX_NAMES:
            name = _OTHER
        self.unknown_types[name] += 1
        self.skipped["unknown_type"] += 1

    def format_warnings(self) -> dict[str, int]:
        """List what is new or broken in the format, with how often: what a `format_warning` of the audit holds."""
        warnings = {f"unknown type {name!r}": count for name, count in self.unknown_types.items()}
        warnings.update({f"repaired {name}": count for name, count in self.repaired.items()})
        counts = {
            "unparseable lines": self.unparseable_lines,
            "values that are not objects": self.non_object_lines,
            "unfinished last line": self.unfinished_lines,
        }
        warnings.update({name: count for name, count in counts.items() if count})
        return warnings
