"""Which test names which id, read from the test files and not from what one run happens to collect."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Use:
    """One id named by one marker."""

    spec_id: str
    path: Path
    line: int

    @property
    def label(self) -> str:
        """Return id and place as one text."""
        return f"{self.path}:{self.line}: {self.spec_id}"


@dataclass(frozen=True, slots=True)
class Usage:
    """All ids that a set of files names, and the markers that can't be read or mark no test."""

    uses: tuple[Use, ...]
    faults: tuple[str, ...]

    @property
    def ids(self) -> frozenset[str]:
        """Return the ids that are named at least once."""
        return frozenset(use.spec_id for use in self.uses)


def find_usage(root: Path) -> Usage:
    """Read every Python file below `root`; a file that can't be parsed raises SyntaxError."""
    uses: list[Use] = []
    faults: list[str] = []
    for path in sorted(root.rglob("*.py")):
        usage = read_usage(path.read_text(encoding="utf-8"), path.relative_to(root))
        uses += usage.uses
        faults += usage.faults
    return Usage(tuple(uses), tuple(faults))


def read_usage(source: str, path: Path) -> Usage:
    """Read one file's markers.

    A marker counts where pytest applies it to tests: on a test function, on a class, in `pytestmark`, and in the
    `marks=` of a parameter. Anywhere else, or with anything but literal ids, it is a fault: an id would look proved
    that no test proves, or the other way round.
    """
    tree = ast.parse(source, filename=str(path))
    placed = set(_placed_markers(tree))
    uses: list[Use] = []
    faults: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_marker(node.func) and node.func in placed:
            literals = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
            uses += [Use(literal, path, node.lineno) for literal in literals]
            if not node.args or node.keywords or len(literals) != len(node.args):
                faults.append(f"{path}:{node.lineno}: a spec marker takes one or more literal ids and nothing else")
        elif _is_marker(node) and node not in placed:
            faults.append(f"{path}:{getattr(node, 'lineno', 0)}: this spec marker marks no test")
    return Usage(tuple(uses), tuple(faults))


def _is_marker(node: ast.AST) -> bool:
    """Tell whether a node reads `pytest.mark.spec` or `mark.spec`."""
    if not (isinstance(node, ast.Attribute) and node.attr == "spec"):
        return False
    owner = node.value
    return (isinstance(owner, ast.Attribute) and owner.attr == "mark") or (
        isinstance(owner, ast.Name) and owner.id == "mark"
    )


def _placed_markers(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the function node of every spec call that stands where pytest applies it to tests."""
    for node in ast.walk(tree):
        for place in _places(node):
            yield from (call.func for call in ast.walk(place) if isinstance(call, ast.Call) and _is_marker(call.func))


def _places(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("test"):
            yield from node.decorator_list
        case ast.ClassDef():
            yield from node.decorator_list
        case ast.Assign(targets=[ast.Name(id="pytestmark")], value=value):
            yield value
        case ast.AnnAssign(target=ast.Name(id="pytestmark"), value=ast.expr() as value):
            yield value
        case ast.keyword(arg="marks", value=value):
            yield value
