"""Every variable that the site reads by name is explained, and nothing else is."""

import re
from itertools import pairwise
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
READ = {
    name
    for module in (ROOT / "heart_site").rglob("*.py")
    for name in re.findall(r'\benv(?:iron\.get|\.\w+)\(\s*"(\w+)"', module.read_text())
}
COMPOSE = (ROOT / "docker-compose.yml").read_text()
COMPOSED = yaml.safe_load(COMPOSE)["services"]["web"]["environment"]
NOT_COMPOSED = {
    "HEART_DEBUG": "never in a deployment",
    "HEART_STATIC_STORAGE": "a matter of the image, which has collected its files",
}
LINES = (ROOT / ".env.example").read_text().splitlines()
EXAMPLES = {
    found[1]: above for above, line in pairwise(LINES) if (found := re.match(r"#?(\w+)=", line))
}


def test_the_example_file_has_exactly_what_is_read():
    assert set(EXAMPLES) >= READ
    assert set(EXAMPLES) - READ <= set(re.findall(r"\$\{(\w+)", COMPOSE))


def test_the_example_file_says_what_each_does():
    assert [name for name, above in EXAMPLES.items() if not above.startswith("# ")] == []


def test_what_stands_in_the_env_file_reaches_the_containers():
    assert {*NOT_COMPOSED, *COMPOSED} >= READ
