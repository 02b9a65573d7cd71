"""The server starts with every client: what it imports, everybody waits for."""

import subprocess
import sys

import pytest

HEAVY = [
    "apscheduler",
    "detect_secrets",
    "kglite",
    "magika",
    "markitdown",
    "networkx",
    "numpy",
    "onnxruntime",
    "openpyxl",
    "psutil",
    "tokenizers",
    "torch",
    "watchdog",
]

EVERY_MODULE = """
import importlib, pkgutil, sys, mcp_server
for found in pkgutil.walk_packages(mcp_server.__path__, "mcp_server."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
print(*sorted(name for name in sys.modules if "." not in name))
"""


def printed_by(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def imported() -> set[str]:
    """The top-level modules that are there once all of the server is imported."""
    return set(printed_by(EVERY_MODULE))


@pytest.mark.parametrize("module", HEAVY)
def test_the_server_imports_nothing_heavy_at_its_start(imported: set[str], module: str) -> None:
    assert "mcp_server" in imported
    assert module not in imported


@pytest.mark.parametrize("module", ["pydantic", "structlog", "psutil"])
def test_settings_home_and_logging_are_cheap_to_import(module: str) -> None:
    code = "import sys, graph_memory.config, graph_memory.log;graph_memory.config.load_config({}); print(*sys.modules)"
    assert module not in printed_by(code)
