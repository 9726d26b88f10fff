"""What the documents point at exists: files, sections, make targets, commands, modules."""

import importlib.util
import re
from functools import cache
from pathlib import Path

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
    """Return each thing that a page names, once, after the page."""
    found = [(page, name) for page, text in PAGES.items() for name in re.findall(pattern, of(text))]
    return list(dict.fromkeys(found))


def links():
    found = named(LINK, of=lambda text: CODE.sub("", text))
    return [(page, target) for page, target in found if "://" not in target]


def sections(text):
    """Return the anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).strip().replace(" ", "-") for one in headings}


def test_every_link_leads_to_a_file_or_section_of_the_repository(subtests):
    for page, target in links():
        with subtests.test(f"{page}: {target}"):
            path, _, section = target.partition("#")
            there = (ROOT / page).parent / path if path else ROOT / page

            assert there.exists()
            assert there.resolve().is_relative_to(ROOT)
            assert not section or section in sections(there.read_text(encoding="utf-8"))


def test_every_make_target_exists(subtests):
    for page, target in named(r"\bmake ([a-z][a-z-]*)"):
        with subtests.test(f"{page}: {target}"):
            assert target in TARGETS


def test_every_command_and_its_action_exist(subtests):
    for page, words in named(r"\bmanage\.py ([a-z]\w*(?: [a-z][a-z-]*)?)"):
        with subtests.test(f"{page}: {words}"):
            command, _, action = words.partition(" ")
            actions = actions_of(command)

            assert not actions or action in actions


@cache
def actions_of(command):
    parser = load_command_class(get_commands()[command], command).create_parser(
        "manage.py", command
    )
    return parser._subparsers._group_actions[0].choices if parser._subparsers else {}


def test_every_file_named_in_code_exists(subtests):
    for page, name in named(FILE):
        with subtests.test(f"{page}: {name}"):
            assert list(ROOT.glob(name.rstrip("/.")))


def test_every_module_or_what_it_holds_exists(subtests):
    for page, name in named(MODULE):
        with subtests.test(f"{page}: {name}"):
            parent, _, last = name.rpartition(".")
            holder = importlib.import_module(parent)

            assert hasattr(holder, last) or importlib.util.find_spec(name) is not None


def test_a_template_names_classes_of_its_context_that_exist(subtests):
    homes = [
        f".{'.'.join(path.relative_to(ROOT).with_suffix('').parts).removesuffix('.__init__')}.{name}"
        for app in APPS
        for path in (ROOT / app).rglob("*.py")
        for name in re.findall(
            r"^(?:class )?([A-Z]\w*)(?=[(:\[]| = )", path.read_text("utf-8"), re.MULTILINE
        )
    ]
    for path in (ROOT / "templates").rglob("*.html"):
        notes = " ".join(re.findall(r"\{#(.*?)#\}", path.read_text("utf-8"), re.DOTALL))
        for name in re.findall(r"\b(?:[a-z_]+\.)+[A-Z]\w+", notes):
            with subtests.test(f"{path.relative_to(ROOT)}: {name}"):
                assert any(home.endswith(f".{name}") for home in homes)
