"""A text shows repositories, packages, paths, addresses and tags; little else is taken for a thing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.extraction import MOST, extract


def shown(text: str, kind: str, root: str | None = None) -> list[str]:
    return [it.name for it in extract(text, root=root) if it.type == kind]


@pytest.mark.spec("extraction.repository")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("https://github.com/owner/name", "owner/name"),
        ("http://www.github.com/owner/name.git", "owner/name"),
        ("git@github.com:owner/name.git", "owner/name"),
        ("ssh://git@github.com/owner/name", "owner/name"),
        ("see https://github.com/owner/name/blob/main/src/a.py#L3.", "owner/name"),
        ("(https://github.com/owner/na.me)", "owner/na.me"),
        ("git clone https://gitlab.com/group/tool.git", "gitlab.com/group/tool"),
        ("fixed in owner/name#12", "owner/name"),
        ("gh repo clone owner/name", "owner/name"),
        ("gh pr view 3 --repo owner/name", "owner/name"),
        ("- uses: actions/checkout@v4", "actions/checkout"),
    ],
)
def test_repositories_are_told_by_where_they_are(text: str, name: str) -> None:
    assert shown(text, "Repository") == [name]


@pytest.mark.parametrize(
    "text",
    [
        "and/or",
        "src/main",
        "client/server",
        "https://github.com/features/actions",
        "https://github.com/owner",
        "TCP/IP 3/4",
    ],
)
def test_words_with_a_slash_are_no_repository(text: str) -> None:
    assert shown(text, "Repository") == []


@pytest.mark.spec("extraction.package")
@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "```python\nimport numpy as np, torch\nfrom fastapi.security import X\nimport os\n```",
            ["numpy", "torch", "fastapi"],
        ),
        ("from sklearn.metrics import f1_score", ["sklearn"]),
        (
            "```js\nimport R from 'react-dom/client'\nconst a = require(\"@scope/pkg/sub\")\nimport fs from 'fs'\n```",
            ["react-dom", "@scope/pkg"],
        ),
        ('Run `pip install -r requirements.txt httpx[http2]>=0.27 "rich" ./local`.', ["httpx", "rich"]),
        ("$ uv add --group dev ruff\n", ["ruff"]),
        ("then please pip install requests and go on", ["requests"]),
        ("npm install --save-dev typescript@5 @types/node", ["typescript", "@types/node"]),
        ("ruff==0.8.1\npydantic>=2.10,<3\n", ["ruff", "pydantic"]),
        ('    "typer>=0.15",', ["typer"]),
        ('  "lodash": "^4.17.21",', ["lodash"]),
    ],
)
def test_packages_are_told_by_how_they_are_asked_for(text: str, names: list[str]) -> None:
    assert shown(text, "Package") == names


@pytest.mark.parametrize(
    "text",
    [
        "import data",
        "import taxes rose",
        "```python\nimport os\nfrom . import x\nfrom pathlib import Path\n```",
        "npm install and then run it",
        "pip install the latest version",
        "pip install -r requirements.txt",
        "score >= 10",
        "if x>=10:",
        "python>=3.11",
        '"version": "1.2.3",',
        "He came from 'london' yesterday",
    ],
)
def test_words_are_no_package(text: str) -> None:
    assert shown(text, "Package") == []


@pytest.mark.spec("extraction.path")
def test_paths_are_told_by_folder_and_ending() -> None:
    text = r"""Edit src/app/main.py:42 and ./lib/x.ts, then /home/ann/proj/src/y.py (see "docs/a b.md"),
    C:\repo\src\m.cs; not main.py, and/or, node_modules/a/b.js, /usr/lib/os.py,
    pkg/__init__.py, https://x.org/a/b.py, 1/2."""

    assert shown(text, "File", root="/home/ann/proj") == [
        "src/app/main.py",
        "lib/x.ts",
        "src/y.py",
        r"C:\repo\src\m.cs",
    ]


@pytest.mark.spec("extraction.url")
def test_addresses_are_kept_as_far_as_they_lead_somewhere() -> None:
    text = """<https://Docs.Python.org/3/library/re.html#module-re>, (https://en.wikipedia.org/wiki/Graph_(data)).
    https://user:pw@x.org/a/?q=1 http://localhost:8000/x http://127.0.0.1 https://example.com/y https://a.local
    https://img.shields.io/b.svg https://x.org/pic.png https://github.com/owner/name https://x.org/a/?q=1"""

    assert shown(text, "Url") == [
        "https://docs.python.org/3/library/re.html",
        "https://en.wikipedia.org/wiki/Graph_(data)",
        "https://x.org/a/?q=1",
    ]


@pytest.mark.spec("extraction.tag", "extraction.person-only-authors")
def test_tags_hints_and_authors_are_what_they_are_said_to_be() -> None:
    found = extract(
        "Bob and https://x.org", tags=["a/b", "A/B"], hints=["Graph  theory"], authors=["Ann Lee <ann@x.org>"]
    )

    assert [(it.type, it.name) for it in found] == [
        ("Person", "Ann Lee"),
        ("Concept", "Graph theory"),
        ("Tag", "A/B"),
        ("Url", "https://x.org"),
    ]


def test_no_more_than_fifty_things_and_twenty_of_a_kind_are_taken() -> None:
    text = "\n".join(f"src/file_{number}.py https://x.org/{number} name{number}==1.0" for number in range(100))

    kinds = [it.type for it in extract(text, tags=[f"t{number}" for number in range(100)])]

    assert len(kinds) == MOST
    assert max(kinds.count(kind) for kind in kinds) == 20


def test_what_has_no_usable_name_is_left_out() -> None:
    assert extract("", tags=["", " "], hints=["x" * 400], authors=[""]) == ()


@pytest.mark.spec("extraction.deterministic")
@given(st.text(alphabet="ab/.:#@ \n`'\"\\<>=1-", max_size=120))
def test_equal_texts_show_equal_things(text: str) -> None:
    found = extract(text, tags=["x"])

    assert extract(text, tags=["x"]) == found
    assert all(it.name.strip() and len(it.name) <= 300 for it in found)
    assert len({it.key for it in found}) == len(found)


@pytest.mark.parametrize(
    "unit", ["a/", "a.", "import a,", "pip install ", "https://", "@a/b", "a\\", "owner/n", '"a":']
)
def test_a_text_of_one_sign_alone_is_read_in_linear_steps(unit: str) -> None:
    assert len(extract(unit * 5_000)) <= MOST
