"""Names of packages in a text: what is imported, installed or required."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator

_PYTHON_IMPORT = re.compile(
    r"^[ \t>]*(?:>>> ?)?(?:from[ \t]+([A-Za-z_]\w*)[\w.]*[ \t]+import[ \t]+[\w*(]"
    r"|import[ \t]+([A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*[A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?)*)"
    r"[ \t]*(?:[#;].*)?$)",
    re.MULTILINE,
)
_SCRIPT_IMPORT = re.compile(
    r"(?:^[ \t>]*(?:import|export)\b[^'\"\n;]{0,300}?(?:\bfrom[ \t]*|[ \t])|\brequire\([ \t]*|\bimport\([ \t]*)"
    r"['\"]((?:@[\w.-]+/)?[a-z0-9][\w.-]*)(?:/[^'\"\n]*)?['\"]",
    re.MULTILINE,
)
_INSTALL = re.compile(
    r"(^[ \t>]*(?:[$#%!>][ \t]*)?(?:sudo[ \t]+)?)?\b(?:(?:python3?[ \t]+-m[ \t]+)?"
    r"(?:pip3?|pipx|uv[ \t]+pip|conda|mamba|gem|brew)[ \t]+install|(?:uv|poetry|pdm|yarn|bun)[ \t]+add|"
    r"uv[ \t]+tool[ \t]+install|npm[ \t]+(?:install|i|add)|pnpm[ \t]+(?:add|install|i)|cargo[ \t]+(?:add|install)|"
    r"go[ \t]+(?:get|install)|uvx|npx)[ \t]+((?:[^\n`;&|#<>]|[<>]=)+)",
    re.MULTILINE,
)
_OPTIONS_WITH_VALUE = frozenset(
    "-r --requirement -c --constraint -e --editable -i --index-url --extra-index-url -f --find-links -t --target "
    "--python --features --group -G --extra -n --name --channel --registry --prefix --from --with --version -p".split()
)
_PACKAGE = re.compile(
    r"((?:@[\w.-]+/)?[A-Za-z][\w.-]*(?:/[\w.-]+)*)(?:\[[\w,. -]+\])?(?:(?:[=<>~!]=?|@|==)[\w.*^~<>=,-]+)?"
)
_FILE = re.compile(r"\.(?:txt|toml|cfg|whl|gz|zip|json|ya?ml|lock|in)$|^\.{0,2}/")
_REQUIREMENT = re.compile(
    r"^[ \t>]*(?:-[ \t]+)?[\"']?([A-Za-z][\w.-]*)(?:\[[\w,. -]+\])?(?:[ \t]*==[ \t]*\d[\w.*]*|[~><!]=\d[\w*]*\.[\w.*]+)"
    r"(?:,[<>!=~]+[\w.*]+)*[\"']?[ \t]*(?:,|;.*|#.*|\\)?$",
    re.MULTILINE,
)
_DEPENDENCY = re.compile(
    r"^[ \t>]*\"((?:@[\w.-]+/)?[a-z0-9][\w.-]*)\"[ \t]*:[ \t]*\"[~^]\d+[\w.-]*\",?[ \t]*$", re.MULTILINE
)
_STANDARD = frozenset(sys.stdlib_module_names) | frozenset(
    "fs path util events stream http http2 https crypto child_process os url net tls dns zlib assert buffer cluster "
    "querystring readline worker_threads perf_hooks test node".split()
)
_WORDS = frozenset(
    "a all an and any as at by command dependencies everything first foo bar baz for from globally if in it its latest "
    "locally manually more my name new of on one or other our package packages pkg run some something support that the "
    "them then these this those to two via version with you your".split()
)
_NO_REQUIREMENT = _WORDS | {"python"}


def find_packages(text: str, is_code: Callable[[int], bool]) -> Iterator[str]:
    """Yield packages in the order of the text; `is_code` tells whether an offset is in code rather than prose.

    Modules of the standard libraries and files next to the code are none.
    """
    found: list[tuple[int, str]] = []
    if has_any(text, ("import", "export", "require(")):
        found += _imports(text, is_code)
        found += ((it.start(1), it[1]) for it in _SCRIPT_IMPORT.finditer(text) if it[1] not in _STANDARD)
    if has_any(text, ("install", "add", "npm", "get", "uvx", "npx")):
        found += _installs(text, is_code)
    if "=" in text:
        found += ((it.start(1), it[1]) for it in _REQUIREMENT.finditer(text) if it[1].lower() not in _NO_REQUIREMENT)
    if '"' in text:
        found += ((it.start(1), it[1]) for it in _DEPENDENCY.finditer(text))
    for _, name in sorted(found, key=lambda it: it[0]):
        yield name


def has_any(text: str, signs: Iterable[str]) -> bool:
    """Tell whether one of several signs stands in a text: far faster than an expression that would not match."""
    return any(sign in text for sign in signs)


def _imports(text: str, is_code: Callable[[int], bool]) -> Iterator[tuple[int, str]]:
    for found in _PYTHON_IMPORT.finditer(text):
        if found[1] is not None:
            names = [found[1]]
        elif is_code(found.start(2)):
            names = [part.split()[0].partition(".")[0] for part in found[2].split(",")]
        else:
            continue
        for name in names:
            if name not in _STANDARD and name.lower() not in _WORDS and not name.startswith("_"):
                yield found.start(), name


def _installs(text: str, is_code: Callable[[int], bool]) -> Iterator[tuple[int, str]]:
    """Yield what install commands name: all in code and where one begins a line, in prose the first word."""
    for found in _INSTALL.finditer(text):
        is_command = found[1] is not None or is_code(found.start(2))
        names = list(_arguments(found[2].split()))
        for name in names if is_command else names[:1]:
            yield found.start(2), name


def _arguments(words: list[str]) -> Iterator[str]:
    is_value = False
    for written in words:
        word = written.strip("\"'").rstrip(".,:!?)")
        if is_value or written.startswith("-"):
            is_value = not is_value and written in _OPTIONS_WITH_VALUE
            continue
        package = _PACKAGE.fullmatch(word)
        if package is None or word.lower() in _WORDS:
            if _FILE.search(word) is None:
                return
            continue
        if _FILE.search(word) is None:
            yield package[1]
        if written[-1] in ".,:!?)":
            return
