"""A study as one file describes it."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from annotation.studies.protocol.parts import (
    AnalysisPlan,
    Checks,
    Chip,
    ConsentText,
    Crowd,
    ExclusionRules,
    HelpLine,
    Line,
    Markdown,
    Paragraph,
    Paragraphs,
    Part,
    PoolMasses,
    Practice,
    Question,
    ResultsMinimum,
    Screening,
    SoftScores,
)

TAKEN = frozenset(
    {
        "backups",
        "contexts",
        "data",
        "hooks",
        "judges",
        "log",
        "members",
        "models",
        "new",
        "people",
        "releases",
        "retention",
        "search",
        "strategies",
        "studies",
        "tokens",
        "webhooks",
        "writing",
    }
)
"""Addresses below the console's that are not a study's."""


def _free(slug: str) -> str:
    if slug in TAKEN:
        msg = f"{slug!r} is an address of the console"
        raise ValueError(msg)
    return slug


Slug = Annotated[
    str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=50), AfterValidator(_free)
]


SystemSlug = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=50)]

FEWEST_DIGITS = 8
"""Different ones in a seed: of 32 drawn by chance fewer come once in 20 million times."""


def _hard_to_guess(seed: str) -> str:
    """Refuse a seed that somebody could try: hashes that rest on it are public."""
    if not re.fullmatch("[0-9A-Fa-f]{32,64}", seed) or len(set(seed.lower())) < FEWEST_DIGITS:
        msg = (
            "leave it out, so that it is drawn; a typed one is 32 to 64 hexadecimal digits drawn "
            "by chance, as `openssl rand -hex 16` prints them"
        )
        raise ValueError(msg)
    return seed


Seed = Annotated[str, AfterValidator(_hard_to_guess)]


LATER = ("analysis", "chips", "systems")
"""Fields that files did not have at first, dotted where they are in a part (``exclusion.misfit``).

A file without one has the hash that it had before; so what reads one says its default.
"""


class StudyProtocol(Part):
    """Everything that fixes a study: its numbers and every word that raters read.

    Its ``seed`` is secret until the study is closed; where None, it is drawn when the study is
    stored (ADR-0007).
    """

    slug: Slug
    name: Annotated[str, Field(pattern=r"^([a-z0-9]+(-[a-z0-9]+)*)?$", max_length=50)] = ""
    version: Annotated[int, Field(ge=1, le=999)] = 1
    title: Annotated[str, Field(min_length=1, max_length=120)]
    protocol: Literal["preference", "rubric", "likert"]
    plan: Literal["balanced", "adaptive"] = "balanced"
    rubric: Line
    seed: Seed | None = None
    systems: Annotated[tuple[SystemSlug, ...], Field(max_length=200)] = ()
    """Systems that are compared, by their names in addresses; none: all of the dataset."""
    judgments_per_pair: Annotated[int, Field(ge=1, le=1000)]
    pairs_per_context: Annotated[int, Field(ge=0, le=30_000)]
    session_length: Annotated[int, Field(ge=1, le=1000)]
    lease_minutes: Annotated[int, Field(ge=1, le=1440)] = 30
    min_rationale_length: Annotated[int, Field(ge=0, le=1000)]
    break_every: Annotated[int, Field(ge=0, le=1000)] = 20
    source_guesses: Annotated[int, Field(ge=0, le=20)] = 0
    reports_to_hold: Annotated[int, Field(ge=1, le=100)] = 3
    soft_scores: SoftScores = SoftScores()
    pool_masses: PoolMasses | None = None
    checks: Checks = Checks()
    screening: Screening = Screening()
    exclusion: ExclusionRules = ExclusionRules()
    crowd: Crowd = Crowd()
    results: ResultsMinimum = ResultsMinimum()
    analysis: AnalysisPlan | None = None
    chips: Annotated[tuple[Chip, ...], Field(max_length=12)] = ()
    question: Line
    invitation: Paragraph
    consent: ConsentText
    instructions: Paragraphs
    practice: Practice
    comprehension: Annotated[tuple[Question, ...], Field(max_length=10)] = ()
    debrief: Markdown
    help_lines: tuple[HelpLine, ...] = ()
    """Services for people whom the texts upset; none where no text can."""
    contact: Annotated[str, Field(max_length=200)] = ""

    @model_validator(mode="after")
    def _practice_is_on_the_scale(self) -> Self:
        if self.protocol == "likert":
            return self
        if not (self.practice.message_b and self.practice.winner and self.practice.strength):
            msg = "practice needs message_b, winner and strength"
            raise ValueError(msg)
        scale = {self.soft_scores.slightly, self.soft_scores.much}
        if self.protocol == "preference" and self.practice.strength not in scale:
            msg = f"practice.strength must be one of {sorted(scale)}, which the five points have"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _adaptive_plans_have_pairs(self) -> Self:
        if self.plan == "adaptive" and self.protocol == "likert":
            msg = "a likert study has no pairs to choose from: its plan is balanced"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _chips_differ(self) -> Self:
        for said in ([chip.key for chip in self.chips], [chip.words for chip in self.chips]):
            if twice := sorted({one for one in said if said.count(one) > 1}):
                msg = f"chips: {twice[0]!r} is there twice"
                raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _systems_make_pairs(self) -> Self:
        if len(set(self.systems)) < len(self.systems):
            msg = "systems: one is there twice"
            raise ValueError(msg)
        if len(self.systems) == 1 and self.protocol != "likert":
            msg = "systems: one system alone makes no pair; name two, or none for all"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _checks_have_a_source(self) -> Self:
        if self.screening.pairs and not self.checks.gold_set:
            msg = "screening needs a gold_set to take its pairs from"
            raise ValueError(msg)
        return self

    @property
    def family(self) -> str:
        """What all versions of this study have in common: ``name``, or else the slug."""
        return self.name or self.slug

    def content(self, rubric: Mapping[str, Any], *, normaliser: str) -> dict[str, Any]:
        """Return what a study stores: this file as plain values, with the rubric itself.

        ``normaliser`` is the version of what dresses every message alike. Of the seed it has the
        SHA-256 alone: so pages, logs and releases may show all of it, its hash fixes the draws,
        and whoever is told the seed later sees that it is the one. Fields that came ``LATER`` are
        left out at their defaults.
        """
        written = self.model_dump(mode="json", exclude={"seed"})
        for path in LATER:
            self._leave_out_default(written, path)
        if self.seed is not None:
            written["seed_sha256"] = hashlib.sha256(self.seed.encode()).hexdigest()
        return {**written, "rubric": dict(rubric), "normaliser": normaliser}

    def _leave_out_default(self, written: dict[str, Any], path: str) -> None:
        *parts, name = path.split(".")
        whole: Any = self
        for part in parts:
            written, whole = written[part], getattr(whole, part)
            if whole is None:
                return
        if getattr(whole, name) == type(whole).model_fields[name].default:
            del written[name]

    def mentions(self, words: Iterable[str]) -> list[str]:
        """Return those of ``words`` that occur in what raters read, whatever their case."""
        read = self.model_dump_json(exclude={"rubric", "checks", "analysis"}).casefold()
        return [word for word in words if word.casefold() in read]
