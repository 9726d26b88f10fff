"""What the form of a study asks for, section by section, by the paths of study files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

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
    gettext_lazy("What is compared"),
    (
        FieldSpec(
            "slug",
            gettext_lazy("Address"),
            gettext_lazy("Small letters, digits and hyphens; raters see it."),
        ),
        FieldSpec(
            "title", gettext_lazy("Title"), gettext_lazy("What raters read above everything.")
        ),
        FieldSpec(
            "protocol",
            gettext_lazy("What is asked"),
            kind=CHOICE,
            choices=[(one.value.lower(), one.label) for one in Protocol],
        ),
        FieldSpec("question", gettext_lazy("Question")),
        FieldSpec(
            "rubric",
            gettext_lazy("Rubric"),
            gettext_lazy("What LLM judges are asked; people see it in rubric and likert studies."),
            CHOICE,
            _files(RUBRICS),
        ),
        FieldSpec(
            "systems",
            gettext_lazy("Systems"),
            gettext_lazy(
                "By their names in addresses, with spaces between them. Empty: all of the dataset."
            ),
            NAMES,
        ),
    ),
)
NUMBERS = Section(
    "numbers",
    gettext_lazy("How many"),
    (
        _number(
            "judgments_per_pair",
            gettext_lazy("Judgments per pair"),
            gettext_lazy("How many people judge each pair."),
        ),
        _number(
            "pairs_per_context",
            gettext_lazy("Pairs per context"),
            gettext_lazy("0 stands for all pairs."),
        ),
        _number(
            "session_length",
            gettext_lazy("Session length"),
            gettext_lazy("Pairs that one rater gets at most."),
        ),
        _number(
            "lease_minutes",
            gettext_lazy("Lease"),
            gettext_lazy("Minutes for which a pair is kept for a rater."),
        ),
        FieldSpec(
            "plan",
            gettext_lazy("Plan"),
            kind=CHOICE,
            choices=[(one.value.lower(), one.label) for one in PlanKind],
        ),
        FieldSpec(
            "seed",
            gettext_lazy("Seed"),
            gettext_lazy(
                "Fixes every draw. Leave it empty: a new study gets one by chance, a draft keeps "
                "the one it has. It is secret until the study is closed."
            ),
        ),
    ),
)
RULES = Section(
    "rules",
    gettext_lazy("Rules and checks"),
    (
        _number(
            "min_rationale_length",
            gettext_lazy("Shortest reason"),
            gettext_lazy("Characters; 0: it is optional."),
        ),
        _number(
            "break_every",
            gettext_lazy("Pairs until a break is suggested"),
            gettext_lazy("0: never."),
        ),
        _number("source_guesses", gettext_lazy("Guesses of the source, after the last pair")),
        _number("reports_to_hold", gettext_lazy("Reports until a conversation is held")),
        FieldSpec(
            "checks.gold_set",
            gettext_lazy("Planted pairs"),
            kind=CHOICE,
            choices=[("", gettext_lazy("none")), *_files(SETS)],
        ),
        _number(
            "checks.rate", gettext_lazy("Share of planted pairs"), gettext_lazy("From 0 to 0.5.")
        ),
        _number(
            "checks.repeat_rate",
            gettext_lazy("Share of repeated pairs"),
            gettext_lazy("From 0 to 0.5."),
        ),
        _number(
            "screening.pairs",
            gettext_lazy("Screening pairs"),
            gettext_lazy("Planted, before the first real one."),
        ),
        _number("screening.min_passed", gettext_lazy("Screening pairs to pass")),
        _number(
            "soft_scores.slightly",
            gettext_lazy("Strength of “slightly”"),
            gettext_lazy("From 1 to 5."),
        ),
        _number(
            "soft_scores.much", gettext_lazy("Strength of “much”"), gettext_lazy("More than that.")
        ),
    ),
)
EXCLUSION = Section(
    "exclusion",
    gettext_lazy("When raters are left out"),
    (
        _number(
            "exclusion.failed_share",
            gettext_lazy("Share of checks failed"),
            gettext_lazy("Reaching it excludes."),
        ),
        _number("exclusion.min_checks", gettext_lazy("Checks seen before that counts")),
        _number("exclusion.anomalous_share", gettext_lazy("Share of anomalous times")),
        _number("exclusion.min_answers", gettext_lazy("Answers before that counts")),
        _number("exclusion.robust_z", gettext_lazy("Robust z of an anomalous time")),
        _number("exclusion.words_per_minute", gettext_lazy("Words a minute that nobody reads")),
        _number("exclusion.misfit", gettext_lazy("Infit"), gettext_lazy("A warning only.")),
        _number(
            "exclusion.alpha",
            gettext_lazy("Level of the outlier test"),
            gettext_lazy("A warning only."),
        ),
    ),
)
TEXTS = Section(
    "texts",
    gettext_lazy("What raters read"),
    (
        FieldSpec("invitation", gettext_lazy("Invitation"), kind=TEXT),
        FieldSpec(
            "instructions",
            gettext_lazy("Instructions"),
            gettext_lazy("Paragraphs, with an empty line between them."),
            TEXT,
            is_many=True,
        ),
        FieldSpec("debrief", gettext_lazy("Debrief"), gettext_lazy("Markdown."), TEXT),
        FieldSpec("contact", gettext_lazy("Whom to write to")),
    ),
    gettext_lazy("Those of the template, until you change them."),
)
ADVANCED = Section(
    "advanced",
    gettext_lazy("Consent, practice, help lines and more, as in a study file"),
    (
        _part("consent", gettext_lazy("Consent")),
        _part("practice", gettext_lazy("Practice pair")),
        _part(
            "comprehension", gettext_lazy("Questions at the start"), gettext_lazy("Empty: none.")
        ),
        _part("chips", gettext_lazy("Reasons to tick"), gettext_lazy("Empty: none.")),
        _part("help_lines", gettext_lazy("Help lines"), gettext_lazy("Empty: none.")),
        _part(
            "crowd",
            gettext_lazy("Crowd platform"),
            gettext_lazy(
                "Empty: none. Mechanical Turk works by link only: this site opens in no frame. The "
                "task shows a link that opens in a window of its own, and the code is typed back."
            ),
        ),
        _part(
            "analysis",
            gettext_lazy("Confirmatory analyses"),
            gettext_lazy("Empty: all are exploratory."),
        ),
        _part(
            "pool_masses",
            gettext_lazy("Weights of the pools"),
            gettext_lazy("Empty: each judgment counts once."),
        ),
    ),
    gettext_lazy("TOML, each part under its own heading."),
)
SECTIONS = (WHAT, NUMBERS, RULES, EXCLUSION, TEXTS, ADVANCED)
