"""Every variable that the settings read is explained, and nothing else is."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
READ = set(re.findall(r'env\.\w+\(\s*"(\w+)"', (ROOT / "heart_site/settings.py").read_text()))
PAGE = (ROOT / "docs/deployment.md").read_text()
EXPLAINED = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
COMPOSED = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["web"][
    "environment"
]
NOT_COMPOSED = {
    "HEART_DEBUG": "never in a deployment",
    "HEART_STATIC_STORAGE": "a matter of the image, which has collected its files",
}
EXAMPLES = set(re.findall(r"^#?(\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))


def test_the_page_explains_exactly_what_is_read():
    assert EXPLAINED == READ


def test_the_example_file_has_every_one():
    assert READ <= EXAMPLES


def test_what_stands_in_the_env_file_reaches_the_containers():
    assert {*NOT_COMPOSED, *COMPOSED} >= READ
