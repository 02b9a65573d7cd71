"""Print which requirement is proved by a test and which is not."""

from pathlib import Path

from tests.spec.areas import AREAS
from tests.spec.report import render
from tests.spec.usage import find_usage

print(render(AREAS, find_usage(Path(__file__).parents[1])))
