"""Reads of the console: how every study stands, in a fixed number of queries."""

import datetime as dt
from collections import defaultdict
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Aggregate, Count, Model, Q, QuerySet, Sum
from django.utils.translation import gettext as _

from annotation import selectors
from annotation.choices import PlanKind, Protocol, StudyState
from annotation.models import Comparison, Judgment, QualityCheck, Study
from annotation.protocol import content_hash
from completions import hold_selectors
from completions.hold_selectors import Held
from completions.models import Completion, Context

NEWEST = 20

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Tally:
    """What a study has, counted."""

    contexts: int = 0
    completions: int = 0
    comparisons: int = 0
    by_people: int = 0
    by_judges: int = 0
    slots_left: int = 0

    @property
    def wanted(self) -> int:
        """Judgments by people that the plan asks for, leased ones left out."""
        return self.by_people + self.slots_left


@dataclass(frozen=True)
class StudyRow:
    """One study as the console lists it."""

    slug: str
    title: str
    state: str
    state_label: str
    protocol_label: str
    dataset: str
    tally: Tally

    @property
    def can_open(self) -> bool:
        """Whether opening it, or going on after a pause, is a step that exists."""
        return self.state in (StudyState.DRAFT, StudyState.LOCKED, StudyState.PAUSED)

    @property
    def is_new(self) -> bool:
        """Whether it was never open."""
        return self.state in (StudyState.DRAFT, StudyState.LOCKED)

    @property
    def is_draft(self) -> bool:
        """Whether opening it would lock its protocol."""
        return self.state == StudyState.DRAFT

    @property
    def is_open(self) -> bool:
        """Whether raters can come in."""
        return self.state == StudyState.OPEN

    @property
    def is_closed(self) -> bool:
        """Whether its judging is over for good."""
        return self.state == StudyState.CLOSED

    @classmethod
    def of(cls, study: Study, tally: Tally) -> "StudyRow":
        """Pick what the console shows."""
        return cls(
            slug=study.slug,
            title=study.title,
            state=study.state,
            state_label=StudyState(study.state).label,
            protocol_label=Protocol(study.protocol).label,
            dataset=study.dataset.name,
            tally=tally,
        )


@dataclass(frozen=True)
class StudyPage:
    """One study as its own page of the console shows it.

    ``is_intact`` says whether the stored content still has the hash under which it was locked,
    ``confirmatory`` which analyses it names in advance.
    """

    row: StudyRow
    name: str
    version: int
    plan_label: str
    is_adaptive: bool
    is_simulated: bool
    pairs_per_context: int
    judgments_per_pair: int
    protocol_hash: str
    locked_at: dt.datetime | None
    is_intact: bool
    confirmatory: tuple[str, ...]
    n_checks: int
    held: Held
    versions: tuple[str, ...]
    dataset_slug: str


@dataclass(frozen=True)
class JudgmentRow:
    """One judgment as the console lists it."""

    at: dt.datetime
    who: str
    is_simulated: bool
    study: str
    better: str
    worse: str
    words: str
    rationale: str
    notes: tuple[str, ...]


def study_rows() -> list[StudyRow]:
    """Return every study with its counts, newest first, in five queries."""
    contexts = _by("dataset", Context.objects.all(), contexts=Count("pk"))
    texts = Completion.objects.filter(erased_at=None)
    completions = _by("context__dataset", texts, completions=Count("pk"))
    planned = _by(
        "study",
        Comparison.objects.all(),
        comparisons=Count("pk"),
        # Nobody will be asked about a deleted text: nothing is wanted of it any more.
        slots_left=Sum("slots_left", filter=selectors.INTACT, default=0),
    )
    judged = _by(
        "comparison__study",
        Judgment.objects.filter(revises__isnull=True),  # a changed answer is not one more
        by_people=Count("pk", filter=Q(rater__isnull=False)),
        by_judges=Count("pk", filter=Q(judge__isnull=False)),
    )
    return [
        StudyRow.of(
            study,
            Tally(
                **contexts[study.dataset_id],
                **completions[study.dataset_id],
                **planned[study.pk],
                **judged[study.pk],
            ),
        )
        for study in selectors.studies()
    ]


def study_page(study: Study) -> StudyPage:
    """Return one study with its counts, its hash and its other versions, in eight queries."""
    versions = Study.objects.filter(name=study.name).exclude(pk=study.pk)
    return StudyPage(
        row=next(row for row in study_rows() if row.slug == study.slug),
        name=study.name,
        version=study.version,
        plan_label=PlanKind(study.plan).label,
        is_adaptive=study.plan == PlanKind.ADAPTIVE,
        is_simulated=study.is_simulated,
        pairs_per_context=study.pairs_per_context,
        judgments_per_pair=study.judgments_per_pair,
        protocol_hash=study.protocol_hash,
        locked_at=study.locked_at,
        is_intact=not study.protocol_hash or content_hash(study.content) == study.protocol_hash,
        confirmatory=tuple((study.content.get("analysis") or {}).get("confirmatory", ())),
        n_checks=QualityCheck.objects.filter(comparison__study=study, is_active=True).count(),
        held=hold_selectors.count_holds(study.dataset_id, {}),
        versions=tuple(versions.order_by("version").values_list("slug", flat=True)),
        dataset_slug=study.dataset.slug,
    )


def newest_judgments(limit: int = NEWEST) -> list[JudgmentRow]:
    """Return the judgments stored last, newest first, in one query."""
    judgments = Judgment.objects.select_related(
        "rater",
        "judge",
        "comparison__study",
        "comparison__first__system",
        "comparison__second__system",
    ).prefetch_related("marks")
    return [_judgment_row(judgment) for judgment in judgments.order_by("-pk")[:limit]]


def verdict_words(*, protocol: str, verdict: int) -> str:
    """Say what a verdict holds, read from the better completion to the other."""
    size = abs(verdict)
    if protocol == Protocol.RUBRIC:
        return _("better than (%(strength)s)") % {"strength": "+" * size}
    return [_("about the same as"), _("slightly better than"), _("much better than")][size]


def _by(key: str, rows: QuerySet[Row], **counts: Aggregate) -> defaultdict[int, dict[str, int]]:
    """Return the counts of each group; a group without rows has none."""
    found = defaultdict[int, dict[str, int]](dict)
    for row in rows.values(key).order_by().annotate(**counts):
        found[row.pop(key)] = row
    return found


def _judgment_row(judgment: Judgment) -> JudgmentRow:
    evaluator = judgment.rater or judgment.judge
    better, words, worse = _finding(judgment)
    return JudgmentRow(
        at=judgment.submitted_at,
        who=judgment.rater.code if judgment.rater else str(getattr(judgment.judge, "name", "")),
        is_simulated=bool(evaluator and evaluator.is_simulated),
        study=judgment.comparison.study.title,
        better=better,
        worse=worse,
        words=words,
        rationale=judgment.rationale,
        notes=tuple(_notes(judgment)),
    )


def _finding(judgment: Judgment) -> tuple[str, str, str]:
    """Return the better system, words and the other; or the one system and its ratings."""
    pair = judgment.comparison
    if pair.second is None or judgment.verdict is None:
        marks = sorted(judgment.marks.all(), key=lambda mark: mark.pk)
        ratings = ", ".join(f"{mark.dimension} {mark.advantage}" for mark in marks)
        return pair.first.system.name, _("rated %(ratings)s") % {"ratings": ratings}, ""
    names = pair.first.system.name, pair.second.system.name
    better, worse = names if judgment.verdict >= 0 else reversed(names)
    return better, verdict_words(protocol=judgment.protocol, verdict=judgment.verdict), worse


def _notes(judgment: Judgment) -> list[str]:
    notes = []
    if judgment.revises_id is not None:
        notes.append(_("changed"))
    if judgment.is_surplus:
        notes.append(_("surplus"))
    return notes
