"""The signs by which Markdown's blocks begin and end, as CommonMark 0.31 and its tables have them."""

import re
from itertools import pairwise

TAB = 4
CODE_INDENT = 4
MAX_DEPTH = 32
"""Deeper quotes and lists are read as text, so that a line costs no more than this many containers."""

HEADING = re.compile(r"(#{1,6})(?:[ \t]+|$)")
CLOSING_HASHES = re.compile(r"(?:^|[ \t])#+[ \t]*$")
FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
SETEXT = re.compile(r"(=+|-+)[ \t]*$")
MARKER = re.compile(r"[-+*](?=[ \t]|$)|(\d{1,9})[.)](?=[ \t]|$)")
DELIMITER_ROW = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
TABLE_BEGINS = re.compile(r"[|:-](?:[|:-]|(?<!-)[ \t])")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|iframe|legend|li|link|"
    "main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|"
    "title|tr|track|ul"
)
ATTRIBUTE = r"""[ \t\n]+[a-zA-Z_:][a-zA-Z0-9:._-]*(?:[ \t\n]*=[ \t\n]*(?:[^"'=<>`\x00-\x20]+|'[^']*'|"[^"]*"))?"""
TAG = rf"<[A-Za-z][A-Za-z0-9-]*(?:{ATTRIBUTE})*[ \t\n]*/?>|</[A-Za-z][A-Za-z0-9-]*[ \t\n]*>"
BLANK = re.compile(r"[ \t]*$")
HTML: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        re.compile(r"<(?:script|pre|style|textarea)(?=[ \t]|>|$)", re.IGNORECASE),
        re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    ),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![A-Z]"), re.compile(r">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(rf"</?(?:{_BLOCK_TAGS})(?=[ \t]|/?>|$)", re.IGNORECASE), BLANK),
    (re.compile(rf"(?:{TAG})[ \t]*$"), BLANK),
)
"""How HTML blocks begin and end; the last kind begins no block where a paragraph goes on."""


def length_of_run(text: str, at: int, end: int) -> int:
    """Count how often the character at `at` stands there in a row."""
    letter, stop = text[at], at
    while stop < end and text[stop] == letter:
        stop += 1
    return stop - at


def cells(text: str, row: tuple[int, int]) -> list[tuple[int, int]]:
    """Return where the cells of a row are; a border at either end makes none."""
    start, end = row
    line = text[start:end].rstrip(" \t")
    borders = [border.start() for border in _CELL_BORDER.finditer(line)]
    edges = [-1, *borders, len(line)]
    found = [(start + left + 1, start + right) for left, right in pairwise(edges)]
    if borders and borders[0] == 0:
        found = found[1:]
    if borders and borders[-1] == len(line) - 1:
        found = found[:-1]
    return found
