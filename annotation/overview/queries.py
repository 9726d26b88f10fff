"""Reads of the console: how every study stands, in a fixed number of queries."""

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Aggregate, Count, Model, Q, QuerySet, Sum
from django.utils.translation import gettext as _

from annotation.choices import PlanKind, Protocol, Purpose, StudyState
from annotation.models import Comparison, Judgment, QualityCheck, Study
from annotation.studies import counts as study_counts_counts
from annotation.studies import selectors
from annotation.studies.counts import StudyTally
from annotation.studies.protocol import content_hash
from completions.models import Completion, Context

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class StudyRow:
    """One study as the console lists it; its counts mean nothing until they are there."""

    slug: str
    title: str
    state: str
    state_label: str
    protocol_label: str
    dataset: str
    dataset_slug: str
    tally: StudyTally
    platform: str
    """Whose people it lets in, as study files say it."""
    is_counted: bool = True

    @property
    def can_open(self) -> bool:
        """Whether opening it, or going on after a pause, is a step that exists."""
        return self.state in (StudyState.DRAFT, StudyState.LOCKED, StudyState.PAUSED)

    @property
    def is_for_mturk(self) -> bool:
        """Whether Mechanical Turk alone sends its raters."""
        return self.platform == "mturk"

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
    def of(cls, study: Study, tally: StudyTally, *, is_counted: bool = True) -> "StudyRow":
        """Pick what the console shows."""
        return cls(
            slug=study.slug,
            title=study.title,
            state=study.state,
            state_label=StudyState(study.state).label,
            protocol_label=Protocol(study.protocol).label,
            dataset=study.dataset.name,
            dataset_slug=study.dataset.slug,
            tally=tally,
            platform=study.content["crowd"]["platform"],
            is_counted=is_counted,
        )


@dataclass(frozen=True)
class StudyOverview:
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


def study_rows(*, now: dt.datetime) -> tuple[list[StudyRow], list[Study]]:
    """Return every study with its counts, newest first, in seven queries.

    Those of large studies are what was kept; second come the studies of which newer ones are to
    be worked out.
    """
    studies = list(selectors.studies())
    large = study_counts_counts.large_among(studies)
    kept = {one.pk: found for one, found in study_counts_counts.kept_counts(large, now=now)}
    tallies = _tallies([one for one in studies if one.pk not in kept])
    for pk, found in kept.items():
        if found.figures is not None:
            tallies[pk] = found.figures.tally
    rows = [
        StudyRow.of(one, tallies.get(one.pk, StudyTally()), is_counted=one.pk in tallies)
        for one in studies
    ]
    return rows, [one for one in large if not kept[one.pk].is_current]


def _tallies(studies: Sequence[Study]) -> dict[int, StudyTally]:
    """Count what these studies have, in four queries."""
    datasets = {one.dataset_id for one in studies}
    contexts = _by("dataset", Context.objects.filter(dataset__in=datasets), contexts=Count("pk"))
    texts = Completion.objects.filter(context__dataset__in=datasets, erased_at=None)
    completions = _by("context__dataset", texts, completions=Count("pk"))
    planned = _by(
        "study",
        Comparison.objects.filter(study__in=studies, purpose=Purpose.MAIN),
        comparisons=Count("pk"),
        # Nobody will be asked about a deleted text: nothing is wanted of it any more.
        wanted=Sum("study__judgments_per_pair", filter=selectors.INTACT, default=0),
        slots_left=Sum("slots_left", filter=selectors.INTACT, default=0),
    )
    judged = _by(
        "comparison__study",
        # A changed answer is not one more.
        Judgment.objects.filter(comparison__study__in=studies, revises__isnull=True),
        by_people=Count("pk", filter=Q(rater__isnull=False)),
        by_judges=Count("pk", filter=Q(judge__isnull=False)),
    )
    return {
        study.pk: StudyTally(
            **contexts[study.dataset_id],
            **completions[study.dataset_id],
            **planned[study.pk],
            **judged[study.pk],
        )
        for study in studies
    }


def study_page(study: Study, *, row: StudyRow) -> StudyOverview:
    """Return one study, counted before, with its hash and other versions, in one query."""
    versions = Study.objects.filter(name=study.name).exclude(pk=study.pk)
    return StudyOverview(
        row=row,
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
        versions=tuple(versions.order_by("version").values_list("slug", flat=True)),
        dataset_slug=study.dataset.slug,
    )


def active_checks(study: Study) -> QuerySet[QualityCheck]:
    """Return the quality checks that are planted."""
    return QualityCheck.objects.filter(comparison__study=study, is_active=True)


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


def judgment_row(judgment: Judgment) -> JudgmentRow:
    """Return a judgment as lists show it; its evaluator, pair and marks come with it."""
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
        rationale=_reasons(judgment),
        notes=tuple(_notes(judgment)),
    )


def _reasons(judgment: Judgment) -> str:
    """Return the reasons that were ticked, in the study's words, and the one that was written."""
    keys = judgment.chips.split()
    chips = selectors.content_of(judgment.comparison.study).get("chips", ()) if keys else ()
    ticked = (chip["words"] for chip in chips if chip["key"] in keys)
    return " · ".join([*ticked, *filter(None, [judgment.rationale])])


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
