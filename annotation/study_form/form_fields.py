"""What the form of a study asks for, section by section, by the paths of study files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.choices import PlanKind, Protocol
from annotation.quality.gold import SETS
from annotation.studies.rubric import RUBRICS

LINE, NUMBER, CHOICE, TEXT, PARTS = "line", "number", "choice", "text", "parts"
NAMES = "names"
"""Several names on one line."""
Words = str | Promise


@dataclass(frozen=True)
class FieldSpec:
    """A field: its dotted path in a file, its label, a hint, and how it is typed.

    ``choices`` are values with labels; ``is_many`` says that paragraphs are kept apart.
    """

    path: str
    label: Words
    hint: Words = ""
    kind: str = LINE
    choices: Sequence[tuple[str, Words]] = ()
    is_many: bool = False


@dataclass(frozen=True)
class Section:
    """A step of the form: a group of fields."""

    key: str
    title: Words
    asked: tuple[FieldSpec, ...]
    lead: Words = ""


def _number(path: str, label: Words, hint: Words = "") -> FieldSpec:
    return FieldSpec(path, label, hint, NUMBER)


def _part(path: str, label: Words, hint: Words = "") -> FieldSpec:
    return FieldSpec(path, label, hint, PARTS)


def _files(folder: Path) -> list[tuple[str, Words]]:
    return [(one.stem, one.stem) for one in sorted(folder.glob("*.toml"))]


WHAT = Section(
    "what",
    _("What is compared"),
    (
        FieldSpec("slug", _("Address"), _("Small letters, digits and hyphens; raters see it.")),
        FieldSpec("title", _("Title"), _("What raters read above everything.")),
        FieldSpec(
            "protocol",
            _("What is asked"),
            kind=CHOICE,
            choices=[(one.value.lower(), one.label) for one in Protocol],
        ),
        FieldSpec("question", _("Question")),
        FieldSpec(
            "rubric",
            _("Rubric"),
            _("What LLM judges are asked; people see it in rubric and likert studies."),
            CHOICE,
            _files(RUBRICS),
        ),
        FieldSpec(
            "systems",
            _("Systems"),
            _("By their names in addresses, with spaces between them. Empty: all of the dataset."),
            NAMES,
        ),
    ),
)
NUMBERS = Section(
    "numbers",
    _("How many"),
    (
        _number(
            "judgments_per_pair", _("Judgments per pair"), _("How many people judge each pair.")
        ),
        _number("pairs_per_context", _("Pairs per context"), _("0 stands for all pairs.")),
        _number("session_length", _("Session length"), _("Pairs that one rater gets at most.")),
        _number("lease_minutes", _("Lease"), _("Minutes for which a pair is kept for a rater.")),
        FieldSpec(
            "plan",
            _("Plan"),
            kind=CHOICE,
            choices=[(one.value.lower(), one.label) for one in PlanKind],
        ),
        FieldSpec(
            "seed",
            _("Seed"),
            _(
                "Fixes every draw. Leave it empty: a new study gets one by chance, a draft keeps "
                "the one it has. It is secret until the study is closed."
            ),
        ),
    ),
)
RULES = Section(
    "rules",
    _("Rules and checks"),
    (
        _number("min_rationale_length", _("Shortest reason"), _("Characters; 0: it is optional.")),
        _number("break_every", _("Pairs until a break is suggested"), _("0: never.")),
        _number("source_guesses", _("Guesses of the source, after the last pair")),
        _number("reports_to_hold", _("Reports until a conversation is held")),
        FieldSpec(
            "checks.gold_set",
            _("Planted pairs"),
            kind=CHOICE,
            choices=[("", _("none")), *_files(SETS)],
        ),
        _number("checks.rate", _("Share of planted pairs"), _("From 0 to 0.5.")),
        _number("checks.repeat_rate", _("Share of repeated pairs"), _("From 0 to 0.5.")),
        _number("screening.pairs", _("Screening pairs"), _("Planted, before the first real one.")),
        _number("screening.min_passed", _("Screening pairs to pass")),
        _number("soft_scores.slightly", _("Strength of “slightly”"), _("From 1 to 5.")),
        _number("soft_scores.much", _("Strength of “much”"), _("More than that.")),
    ),
)
EXCLUSION = Section(
    "exclusion",
    _("When raters are left out"),
    (
        _number("exclusion.failed_share", _("Share of checks failed"), _("Reaching it excludes.")),
        _number("exclusion.min_checks", _("Checks seen before that counts")),
        _number("exclusion.anomalous_share", _("Share of anomalous times")),
        _number("exclusion.min_answers", _("Answers before that counts")),
        _number("exclusion.robust_z", _("Robust z of an anomalous time")),
        _number("exclusion.words_per_minute", _("Words a minute that nobody reads")),
        _number("exclusion.misfit", _("Infit"), _("A warning only.")),
        _number("exclusion.alpha", _("Level of the outlier test"), _("A warning only.")),
    ),
)
TEXTS = Section(
    "texts",
    _("What raters read"),
    (
        FieldSpec("invitation", _("Invitation"), kind=TEXT),
        FieldSpec(
            "instructions",
            _("Instructions"),
            _("Paragraphs, with an empty line between them."),
            TEXT,
            is_many=True,
        ),
        FieldSpec("debrief", _("Debrief"), _("Markdown."), TEXT),
        FieldSpec("contact", _("Whom to write to")),
    ),
    _("Those of the template, until you change them."),
)
ADVANCED = Section(
    "advanced",
    _("Consent, practice, help lines and more, as in a study file"),
    (
        _part("consent", _("Consent")),
        _part("practice", _("Practice pair")),
        _part("comprehension", _("Questions at the start"), _("Empty: none.")),
        _part("chips", _("Reasons to tick"), _("Empty: none.")),
        _part("help_lines", _("Help lines"), _("Empty: none.")),
        _part(
            "crowd",
            _("Crowd platform"),
            _(
                "Empty: none. Mechanical Turk works by link only: this site opens in no frame. The "
                "task shows a link that opens in a window of its own, and the code is typed back."
            ),
        ),
        _part("analysis", _("Confirmatory analyses"), _("Empty: all are exploratory.")),
        _part("pool_masses", _("Weights of the pools"), _("Empty: each judgment counts once.")),
    ),
    _("TOML, each part under its own heading."),
)
SECTIONS = (WHAT, NUMBERS, RULES, EXCLUSION, TEXTS, ADVANCED)
