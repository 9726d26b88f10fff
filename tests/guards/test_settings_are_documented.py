"""Every variable that the settings read is explained, and nothing else is."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
READ = set(re.findall(r'env\.\w+\(\s*"(\w+)"', (ROOT / "heart_site/settings.py").read_text()))
PAGE = (ROOT / "docs/settings.md").read_text()
EXPLAINED = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
EXAMPLES = set(re.findall(r"^#?(\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))


def test_the_page_explains_exactly_what_is_read():
    assert EXPLAINED == READ


@pytest.mark.parametrize("name", sorted(READ))
def test_the_example_file_has(name):
    assert name in EXAMPLES
