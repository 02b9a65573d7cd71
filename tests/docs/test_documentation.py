import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from daemon.exits import Exit
from graph_memory.config.environment import HOME, SHARED_NAMES
from tests.docs.pages import (
    AGENT,
    COMMANDS,
    CONFIGURATION,
    ROOT,
    UNIT,
    agent_template,
    commands_page,
    configuration_page,
    unit_template,
)

DECISIONS = ROOT / "docs" / "adr"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
ADRS = sorted(path for path in DECISIONS.glob("*.md") if path.name != "README.md")


def parsed(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))


def tokens(page: Path) -> Iterator[Token]:
    for token in parsed(page):
        yield token
        yield from token.children or ()


def links(page: Path) -> Iterator[str]:
    for token in tokens(page):
        target = token.attrGet("href") or token.attrGet("src")
        if isinstance(target, str):
            yield unquote(target)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as code hosts make them."""
    stream = parsed(page)
    seen: Counter[str] = Counter()
    found = set()
    for opening, inline in pairwise(stream):
        if opening.type == "heading_open":
            text = "".join(child.content for child in inline.children or ())
            slug = "".join(
                character
                for character in unicodedata.normalize("NFC", text).lower().replace(" ", "-")
                if character.isalnum() or character in "-_"
            )
            found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
    return found


def leads_somewhere(page: Path, link: str) -> bool:
    if re.match(r"[a-z][a-z0-9+.-]*:", link):
        return True  # another site, which is not ours to check
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists() or not target.is_relative_to(ROOT):
        return False
    return not anchor or target.suffix != ".md" or anchor in anchors(target)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    assert [link for link in links(page) if not leads_somewhere(page, link)] == []


def test_the_tables_of_settings_are_those_of_the_program() -> None:
    written = CONFIGURATION.read_text(encoding="utf-8")
    assert written == configuration_page(written), "run `make pages`"


def test_the_help_of_every_command_is_that_of_the_program() -> None:
    written = COMMANDS.read_text(encoding="utf-8")
    assert written == commands_page(written), "run `make pages`"


def test_the_service_files_are_those_of_the_program() -> None:
    assert UNIT.read_text(encoding="utf-8") == unit_template(), "run `make pages`"
    assert AGENT.read_text(encoding="utf-8") == agent_template(), "run `make pages`"


@pytest.mark.parametrize("status", list(Exit))
def test_every_exit_status_is_explained(status: Exit) -> None:
    assert f"| {status.value} |" in COMMANDS.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted({HOME, "CLAUDE_CONFIG_DIR", "NEO4J_PASSWORD", *SHARED_NAMES}))
def test_every_variable_is_explained(name: str) -> None:
    assert f"`{name}`" in CONFIGURATION.read_text(encoding="utf-8")


@pytest.mark.parametrize("decision", ADRS, ids=lambda path: path.stem)
def test_every_decision_is_numbered_titled_and_listed(decision: Path) -> None:
    match = re.fullmatch(r"(\d{4})-[a-z0-9-]+", decision.stem)
    assert match, "NNNN-title.md, in lower case"
    first, *_ = decision.read_text(encoding="utf-8").splitlines()
    assert re.fullmatch(rf"# {int(match[1])}\. \S.*", first), f"the title is `# {int(match[1])}. …`"
    assert decision.name in set(links(DECISIONS / "README.md"))


@pytest.mark.parametrize("decision", ADRS, ids=lambda path: path.stem)
@pytest.mark.parametrize("part", ["Context", "Options", "Decision", "Consequences"])
def test_every_decision_has_its_parts(decision: Path, part: str) -> None:
    assert f"\n## {part}" in decision.read_text(encoding="utf-8")


def test_no_two_decisions_share_a_number() -> None:
    numbers = Counter(path.stem[:4] for path in ADRS)
    assert [number for number, count in numbers.items() if count > 1] == []
