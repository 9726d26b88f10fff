"""What the documents point at exists: files, sections, make targets, commands, modules."""

import importlib.util
import re
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    if path.name != "CHANGELOG.md"  # tells of what is gone, too
}
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
APPS = ("access", "annotation", "completions", "heart_site", "ranking")
OURS = (*APPS, "benchmarks", "docs", "tests")
FILE = re.compile(rf"(?<![\w/.])(?:{'|'.join(OURS)})/[\w/.*-]+")
MODULE = re.compile(rf"(?<![\w/.])(?:{'|'.join(APPS)})(?:\.\w+)+(?![\w/])")
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def code(text):
    return "\n".join(CODE.findall(text))


def named(pattern, of=code):
    """Return a case for each thing that a page names, with where it is named."""
    found = [(page, name) for page, text in PAGES.items() for name in re.findall(pattern, of(text))]
    return [pytest.param(*pair, id=f"{pair[0]}: {pair[1]}") for pair in dict.fromkeys(found)]


def links():
    found = named(LINK, of=lambda text: CODE.sub("", text))
    return [case for case in found if "://" not in case.values[1]]


def sections(text):
    """Return the anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).strip().replace(" ", "-") for one in headings}


@pytest.mark.parametrize(("page", "target"), links())
def test_a_link_leads_to_a_file_or_section_of_the_repository(page, target):
    path, _, section = target.partition("#")
    there = (ROOT / page).parent / path if path else ROOT / page

    assert there.exists()
    assert there.resolve().is_relative_to(ROOT)
    assert not section or section in sections(there.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("page", "target"), named(r"\bmake ([a-z][a-z-]*)"))
def test_a_make_target_exists(page, target):
    assert target in TARGETS


@pytest.mark.parametrize(("page", "words"), named(r"\bmanage\.py ([a-z]\w*(?: [a-z][a-z-]*)?)"))
def test_a_command_and_its_action_exist(page, words):
    command, _, action = words.partition(" ")
    app = get_commands()[command]
    parser = load_command_class(app, command).create_parser("manage.py", command)
    actions = parser._subparsers._group_actions[0].choices if parser._subparsers else {}

    assert not actions or action in actions


@pytest.mark.parametrize(("page", "name"), named(FILE))
def test_a_file_named_in_code_exists(page, name):
    assert list(ROOT.glob(name.rstrip("/.")))


@pytest.mark.parametrize(("page", "name"), named(MODULE))
def test_a_module_or_what_it_holds_exists(page, name):
    parent, _, last = name.rpartition(".")
    holder = importlib.import_module(parent)

    assert hasattr(holder, last) or importlib.util.find_spec(name) is not None
