"""What the repository says of itself holds: documents, versions, and how tests are grouped."""

import hashlib
import importlib.util
import re
import tomllib
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands, load_command_class

from ranking import downloads
from ranking.releases.documents import VERSION
from ranking.results import serializers
from tests.helpers.rows import our_models

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
PAGE = re.compile(r"ADR-(\d{4})|\bdocs/([\w/-]+\.md)")
SOURCES = {".py", ".html", ".js", ".toml", ".yml", ".md", ".json"}
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


def test_every_page_and_decision_named_in_the_source_exists():
    missing = [
        f"{path.relative_to(ROOT)}: {number or page}"
        for folder in (*OURS, "templates", "static/js", "deploy", ".")
        for path in (ROOT / folder).glob("*.*" if folder == "." else "**/*.*")
        if path.suffix in SOURCES and path.name != "CHANGELOG.md"
        for number, page in PAGE.findall(path.read_text("utf-8"))
        if not list((ROOT / "docs").glob(f"adr/{number}-*" if number else page))
    ]

    assert missing == []


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


ARCHITECTURE = PAGES["docs/architecture.md"]
STATES = ARCHITECTURE.partition("## States")[2]


def relations():
    """Return every foreign key as a line of a diagram."""
    for model in our_models():
        for field in model._meta.local_fields:
            if field.remote_field is not None:
                one = "|o" if field.null else "||"
                many = "o|" if field.unique else "o{"
                target = field.remote_field.model.__name__
                yield f"{target} {one}--{many} {model.__name__} : {field.name}"


def test_the_diagrams_show_every_relation_and_no_other():
    shown = re.findall(r"^    (\w+ \S+--\S+ \w+ : \w+)$", ARCHITECTURE, re.MULTILINE)

    assert sorted(shown) == sorted(relations())


@pytest.mark.parametrize("app", APPS)
def test_the_table_of_features_has_every_folder(app):
    (row,) = re.findall(rf"^\| `{app}` \| (.*) \|$", ARCHITECTURE, re.MULTILINE)
    folders = {path.parent.name for path in (ROOT / app).glob("*/__init__.py")}
    shared = {"management", "migrations", "models", "templatetags"}

    named = set(re.findall(r"`(\w+)`", row))

    assert folders - shared <= named
    assert all(list((ROOT / app).rglob(f"{name}*")) for name in named)


def test_the_table_of_states_has_every_state():
    columns = [
        field
        for model in our_models()
        for field in model._meta.local_concrete_fields
        if field.name in {"state", "outcome"}
    ]

    states = {value for field in columns for value, _ in field.choices or () if value}
    assert set(re.findall(r"`([A-Z]+)`", STATES)) == states


TABLE = re.compile(r"^\| column \|.*\n\|.*\n((?:\|.*\n)+)", re.MULTILINE)
RATINGS_CSV, ENSEMBLE_CSV = (
    [name for row in rows.splitlines() for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
    for rows in TABLE.findall(PAGES["docs/api.md"])
)


def fields_of(serializer):
    """Yield the fields of a serializer and of those inside it."""
    for field in serializer.fields.values():
        yield field
        inner = getattr(field, "child", field)
        if hasattr(inner, "fields"):
            yield from fields_of(inner)


def test_the_schema_says_what_each_field_of_ratings_means():
    assert [str(one) for one in fields_of(serializers.BoardOut()) if not one.help_text] == []


def test_the_page_explains_the_columns_of_the_tables_of_ratings():
    assert [*downloads.RATING_COLUMNS, "win_per_cent_<dimension>"] == RATINGS_CSV
    assert [*downloads.ENSEMBLE_COLUMNS, "judge_<name>"] == ENSEMBLE_CSV


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


VENDOR = ROOT / "static" / "vendor"
ECHARTS = VENDOR / "echarts-6.1.0"
SUM = "b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0"


def test_releases_and_citations_name_the_version_of_the_package():
    package = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    cited = re.search(r"(?m)^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"))

    assert package == VERSION
    assert cited is not None
    assert cited[1] == package


def test_the_library_of_charts_is_the_published_file_with_its_sum_beside_it():
    published = (ECHARTS / "echarts.min.js").read_bytes()

    assert hashlib.sha256(published).hexdigest() == SUM
    assert b't.version="6.1.0"' in published
    assert SUM in (VENDOR / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("LICENSE", "Apache License"),
        ("NOTICE", "Apache ECharts"),
        ("licenses/LICENSE-d3", "Mike Bostock"),
        ("licenses/LICENSE-zrender", "Baidu"),
        ("licenses/LICENSE-tslib", "Microsoft"),
    ],
)
def test_its_licences_come_with_it(name, words):
    assert words in (ECHARTS / name).read_text("utf-8")


def test_every_folder_of_a_library_is_listed_and_carries_its_version():
    listed = (VENDOR / "README.md").read_text("utf-8")

    for folder in (one for one in VENDOR.iterdir() if one.is_dir()):
        assert f"`{folder.name}`" in listed
        assert re.search(r"-\d+\.\d+\.\d+$", folder.name)


TESTS = Path(__file__).parents[1]


def test_the_runner_sends_a_group_to_one_worker(request: pytest.FixtureRequest):
    """What xdist knows a group by is the end of a test's name."""
    if not hasattr(request.config, "workerinput"):
        return  # one process has nothing to keep together

    assert all(
        item.nodeid.rpartition("@")[2] == mark.args[0]
        for item in request.session.items
        if (mark := item.get_closest_marker("xdist_group")) is not None
    )


def test_what_a_folder_shares_ends_with_its_last_test():
    """In a folder that is no package, it would last for the session: an event loop, servers."""
    shared = [
        file.parent
        for file in TESTS.rglob("*.py")
        if 'scope="package"' in file.read_text("utf-8") and file != Path(__file__)
    ]

    assert shared
    assert [folder for folder in shared if not (folder / "__init__.py").exists()] == []
