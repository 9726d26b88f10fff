"""Words that the field does not use stay out of what raters, writers and readers see."""

import re
from pathlib import Path

from django.apps import apps

ROOT = Path(__file__).parents[2]
PAGES = (
    "templates/annotation",
    "templates/completions",
    "templates/ranking",
    "templates/home.html",
)
CODE = ("annotation/session", "annotation/raters/consent.py", "completions/writers")
SHOWN = re.compile(
    r"""\{% translate (?:"([^"]*)"|'([^']*)')"""
    r"""|\{% blocktranslate[^%]*%\}(.*?)\{% endblocktranslate""",
    re.DOTALL,
)
SAID = re.compile(
    r"""\b(?:_|gettext_lazy|ngettext(?:_lazy)?)\(\s*((?:"[^"]*"\s*)+)(?:,\s*((?:"[^"]*"\s*)+))?"""
)
RETIRED = re.compile(
    r"\b(?:talks?|go on|goes on|somebody|is kept for|what is to become|drawback|so far, talks"
    r"|this message|verdicts|by themselves|by itself)\b",
    re.IGNORECASE,
)
FINE = ("someone to talk to",)
"""Where a word means something else."""


def files(places: tuple[str, ...], suffix: str) -> list[Path]:
    found = [ROOT / place for place in places]
    return [
        file
        for place in found
        for file in ([place] if place.is_file() else sorted(place.rglob(f"*{suffix}")))
        if "console" not in file.parts
    ]


def texts(file: Path) -> list[str]:
    pattern = SHOWN if file.suffix == ".html" else SAID
    return [
        "".join(found.groups(default="")) for found in pattern.finditer(file.read_text("utf-8"))
    ]


def test_every_text_of_a_page_is_read():
    for file in files(("templates",), ".html"):
        page = file.read_text("utf-8")
        tags = len(re.findall(r"\{% (?:translate|blocktranslate)\b", page))

        assert len(texts(file)) == tags, file


def test_pages_and_messages_use_the_fields_words():
    found = [
        f"{file.relative_to(ROOT)}: {text.strip()[:120]}"
        for file in (*files(PAGES, ".html"), *files(CODE, ".py"))
        for text in texts(file)
        if RETIRED.search(text) and not any(fine in text for fine in FINE)
    ]

    assert found == []


def test_a_conversation_is_called_so_everywhere():
    code = ("access", "annotation", "completions", "heart_site", "ranking")
    found = [
        f"{file.relative_to(ROOT)}: {text.strip()[:120]}"
        for folder in ("templates", *code)
        for file in (ROOT / folder).rglob("*.[hp][ty]*")
        if file.suffix in {".html", ".py"}
        for text in texts(file)
        if re.search(r"\b[Tt]alks?\b", text) and not any(fine in text for fine in FINE)
    ]

    assert found == []


OURS = re.compile(r"talks?|badges?|grounds?|twins?|bring|brought|standing")
"""Words of our own that had another in the field; none is a part of a name."""
STORED = {"BroughtCompletion", "BroughtCompletionAdmin", "BroughtOut"}
"""Names that tables and the schema of the API have."""


def parts(name: str) -> list[str]:
    """Return the words that a name is made of, in small letters."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+", name)]


def test_names_in_code_are_the_fields_words():
    found = [
        f"{file.relative_to(ROOT)}: {name}"
        for app in ("access", "annotation", "completions", "heart_site", "ranking")
        for file in (ROOT / app).rglob("*.py")
        if "migrations" not in file.parts
        for name in (file.stem, *re.findall(r"(?:class|def) (\w+)", file.read_text("utf-8")))
        if name not in STORED and any(map(OURS.fullmatch, parts(name)))
    ]

    assert found == []


def test_no_page_sends_anybody_to_a_terminal():
    told = re.compile(r"manage\.py|\bmake (?:demo|run)\b|by command\b")
    found = [
        str(file.relative_to(ROOT))
        for file in (ROOT / "templates").rglob("*.html")
        if told.search(file.read_text("utf-8"))
    ]
    said = [
        f"{file.relative_to(ROOT)}: {text}"
        for app in ("access", "completions", "annotation", "ranking", "heart_site")
        for file in (ROOT / app).rglob("*.py")
        if "management" not in file.parts
        for text in texts(file)
        if told.search(text)
    ]

    assert found + said == []


def test_study_files_use_the_fields_words():
    studies = sorted((ROOT / "annotation" / "studies").glob("*.toml"))

    for file in studies:
        text = file.read_text("utf-8")
        own = text[: text.index("[practice]")]
        assert not RETIRED.search(own), file.name


def test_names_of_tables_have_english_plurals():
    """Django adds an s to everything: entrys, batchs, guesss."""
    odd = [
        str(model._meta.verbose_name_plural)
        for model in apps.get_models()
        if re.search(r"(?:[^aeiou]y|s|x|ch|sh|z)s$", str(model._meta.verbose_name_plural))
    ]

    assert not odd


def test_what_is_counted_has_separators_of_thousands():
    """A placeholder that takes a bare number cannot have them."""
    found = [
        f"{file.relative_to(ROOT)}: {text.strip()[:120]}"
        for folder in ("access", "annotation", "completions", "heart_site", "ranking")
        for file in (ROOT / folder).rglob("*.py")
        for text in texts(file)
        if re.search(r"%\((?:n|n_\w+|new|known|bad|added|changed)\)d", text)
    ]

    assert found == []


COUNTED = re.compile(r"\b(\w+)=((?:\w+\.)*n_\w+|[\w.]*(?:\|length|\.count))(?= |$)")
FEW = re.compile(
    r"\b(?:trial|turns|earlier|analyses|found|n_under_way|recent_fits|n_failed|n_checks|checks|draft"
    r"|groups|n_pages|get_unused_codes|unused_codes)\b"
)
"""What one rater, writer, fit or page has of a kind."""
BLOCK = re.compile(r"{% blocktranslate (.*?) %}(.*?){% endblocktranslate", re.DOTALL)


def test_counts_that_pages_show_have_separators_of_thousands():
    """What raters read counts pairs of one session, which has fewer."""
    found = [
        f"{file.relative_to(ROOT)}: {{{{ {name} }}}} in {body.strip()[:80]}"
        for file in (ROOT / "templates").rglob("*.html")
        if file.parent.name != "annotation"
        for bound, body in BLOCK.findall(file.read_text("utf-8"))
        for name, value in COUNTED.findall(bound)
        if f"{{{{ {name} }}}}" in body and not FEW.search(value)
    ]

    assert found == []


def test_dates_have_one_form_for_people():
    """Only the attributes that programs read have the other; they are in single quotes."""
    found = [
        f"{file.relative_to(ROOT)}: {form}"
        for file in (ROOT / "templates").rglob("*.html")
        for form in re.findall(r'\|date:"([^"]*)"', file.read_text("utf-8"))
        if not re.fullmatch(r"j M( Y)?(, H:i(:s)?)?|H:i:s", form)
    ]

    assert found == []
