"""What a text shows by itself: repositories, packages, paths, addresses, tags. No model, no guesses.

What is taken for a thing must look like one wherever it stands; what is also a word (`import data`, `yarn add`) counts
only in code. Too much is worse than too little: every thing taken becomes a node that someone finds.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice

from graph_memory.domain.markdown_prose import MASK, mask_code
from graph_memory.domain.names import name_key
from graph_memory.domain.statements import EntityStatement
from ingest.package_names import find_packages, has_any

MOST = 50
"""Things that one memory may show; of each kind the first in the text count."""
REPOSITORY, PATH, ADDRESS, PACKAGE, TAG, PERSON, HINT = (
    "Repository",
    "File",
    "Url",
    "Package",
    "Tag",
    "Person",
    "Concept",
)
_MOST_OF_A_KIND = 20
_LONGEST = 300

_EMAIL = re.compile(r"\s*<[^<>@\s]+@[^<>\s]+>\s*$")
_FORGES = r"(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)"
_OWNER_AND_NAME = r"[A-Za-z0-9][\w.-]{0,99}/[A-Za-z0-9_.][\w.-]{0,99}"
_REPOSITORY = re.compile(
    rf"(?:https?://(?:[^\s/@]+@)?(?:www\.)?|git@|ssh://git@|git://)({_FORGES})[/:]({_OWNER_AND_NAME})", re.IGNORECASE
)
_NAMED_REPOSITORY = re.compile(
    rf"(?<![\w/.:@-])({_OWNER_AND_NAME})#\d+\b|\bgh repo (?:clone|fork|view) ({_OWNER_AND_NAME})"
    rf"|(?:--repo|-R)[ =]({_OWNER_AND_NAME})|\buses:[ \t]*['\"]?({_OWNER_AND_NAME})(?:/[\w./-]+)?@\w"
)
_NO_OWNERS = frozenset(
    "about apps collections contact customer-stories enterprise explore features issues login marketplace new "
    "notifications orgs organizations pricing pulls search security settings signup site sponsors topics trending "
    "user-attachments users".split()
)
_ADDRESS = re.compile(r"https?://[^\s<>\"'`\[\]{}|\\^\x00-\x1f\ufffc]+", re.IGNORECASE)
_TRAILING = ".,;:!?*_~"
_NO_HOST = re.compile(
    r"(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1\]?|(?:[\w-]+\.)*example(?:\.(?:com|org|net))?|[\w-]+"
    r"|(?:[\w-]+\.)+(?:local|localhost|test|invalid|internal|example)|img\.shields\.io)(?::\d+)?",
    re.IGNORECASE,
)
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|ico|webp|woff2?|css)$", re.IGNORECASE)
_ENDINGS = (
    "py|pyi|js|jsx|ts|tsx|mjs|cjs|rs|go|java|kt|kts|scala|c|h|cc|cpp|hpp|cs|rb|php|swift|m|mm|lua|pl|r|jl|ex|exs|erl|"
    "hs|ml|clj|dart|vue|svelte|sh|bash|zsh|fish|ps1|sql|graphql|proto|tf|html|css|scss|less|md|rst|txt|json|jsonl|"
    "ya?ml|toml|ini|cfg|conf|env|xml|csv|lock|ipynb|gradle|cmake|service|plist"
)
_PATH = re.compile(
    rf"(?<![\w/\\.:@~-])((?:~/|\.{{1,2}}/|/)?(?:[\w.@+-]+/)+[\w@+-][\w.@+-]*\.(?:{_ENDINGS})"
    rf"|(?:[A-Za-z]:\\)?(?:[\w.@+-]+\\)+[\w@+-][\w.@+-]*\.(?:{_ENDINGS}))(?![\w/\\])"
)
_NOT_OURS = re.compile(
    r"(?:^|[/\\])(?:node_modules|site-packages|dist-packages|\.?venv|__pycache__|\.git|\.tox|\.mypy_cache|vendor)[/\\]"
    r"|^/(?:usr|lib|lib64|proc|sys|dev|tmp|private/tmp|var|opt)/|[/\\]__init__\.py$"
)


def extract(
    text: str,
    *,
    tags: Iterable[str] = (),
    hints: Iterable[str] = (),
    authors: Iterable[str] = (),
    root: str | None = None,
) -> tuple[EntityStatement, ...]:
    """List the things that a text shows, each once, at most fifty and twenty of a kind.

    Authors, hints and tags come first, then by kind, each in the order of the text. `root` is the folder that absolute
    paths are shortened by. Equal texts give equal lists. Whether a thing is known is for the store to say; names of
    known entities are found by `known_names`.
    """
    is_code = _code_test(text)
    found: dict[tuple[str, str], EntityStatement] = {}
    for kind, names in (
        (PERSON, (_EMAIL.sub("", it) or it for it in authors)),
        (HINT, hints),
        (TAG, tags),
        (REPOSITORY, _repositories(text)),
        (PACKAGE, find_packages(text, is_code)),
        (PATH, _paths(text, root)),
        (ADDRESS, _addresses(text)),
    ):
        usable = {key: it for it in names if len(it) <= _LONGEST and (key := name_key(it))}
        for key, name in islice(usable.items(), _MOST_OF_A_KIND):
            found.setdefault((kind, key), EntityStatement(" ".join(name.split()), kind))
    return tuple(islice(found.values(), MOST))


def _code_test(text: str) -> Callable[[int], bool]:
    @cache  # most texts are never asked about
    def masked() -> str:
        return mask_code(text)

    return lambda at: masked()[at] == MASK and text[at] != MASK


def _repositories(text: str) -> Iterator[str]:
    """Yield `owner/name`; of other forges than the usual one with their host."""
    if "/" not in text:
        return
    places = list(_REPOSITORY.finditer(text)) if has_any(text, ("://", "git@")) else []
    if has_any(text, ("#", "gh repo", "--repo", "-R", "uses:")):
        places += _NAMED_REPOSITORY.finditer(_ADDRESS.sub(_blank, text))
    for found in sorted(places, key=lambda it: it.start()):
        if found.re is _REPOSITORY:
            forge, name = found[1].lower(), found[2]
        else:
            forge, name = "github.com", next(it for it in found.groups() if it)
        name = name.rstrip(_TRAILING).removesuffix(".git").rstrip(_TRAILING)
        owner, _, rest = name.partition("/")
        if owner.lower() not in _NO_OWNERS and rest:
            yield name if forge == "github.com" else f"{forge}/{name}"


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _addresses(text: str) -> Iterator[str]:
    if "://" not in text:
        return
    for found in _ADDRESS.finditer(text):
        if _REPOSITORY.match(found[0]) is not None:
            continue
        address = found[0].split("#", 1)[0].rstrip(_TRAILING)
        while address.endswith(")") and address.count("(") < address.count(")"):
            address = address[:-1].rstrip(_TRAILING)
        scheme, _, rest = address.partition("://")
        host, slash, path = rest.partition("/")
        host = host.rpartition("@")[2]
        if host and _NO_HOST.fullmatch(host) is None and _PICTURE.search(path) is None:
            yield f"{scheme.lower()}://{host.lower()}{slash}{path}".rstrip("/")


def _paths(text: str, root: str | None) -> Iterator[str]:
    if not has_any(text, ("/", "\\")):
        return
    base = None if not root or not root.strip("/\\") else root.rstrip("/\\")
    for found in _PATH.finditer(_ADDRESS.sub(_blank, text)):
        path = found[1].removeprefix("./")
        if base is not None and path.startswith(base) and path[len(base)] in "/\\":
            path = path[len(base) + 1 :]
        if _NOT_OURS.search(path) is None:
            yield path
