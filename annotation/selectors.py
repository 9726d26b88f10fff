"""Reads of the annotation app."""

import uuid
from dataclasses import dataclass
from statistics import median

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.choices import Purpose, Side, StudyState
from annotation.models import Comparison, JudgeCall, Judgment, Lease, Rater, Study
from completions.choices import LeaseOutcome
from completions.models import WritingLease

DEFAULT_SECONDS = 60


@dataclass(frozen=True)
class Tally:
    """What a rater has been shown so far."""

    answered: int
    first_as_a: int
    first_as_b: int


def study_by_slug(slug: str) -> Study | None:
    """Return the study, with its dataset, or None."""
    return Study.objects.select_related("dataset").filter(slug=slug).first()


def studies() -> QuerySet[Study]:
    """Return all studies, newest first."""
    return Study.objects.select_related("dataset").order_by("-created_at", "-pk")


def dimension_keys(study: Study) -> list[str]:
    """Return the keys of the study's rubric, in its order."""
    return [dimension["key"] for dimension in study.content["rubric"]["dimensions"]]


def rater_by_code(*, study: Study, code: str) -> Rater | None:
    """Return the study's rater of that pseudonym, with the study itself, or None."""
    return Rater.objects.select_related("study").filter(study=study, code=code).first()


def rater_tally(rater: Rater) -> Tally:
    """Count the rater's answers, and on which side the first completion was drawn."""
    kept = ~Q(outcome__in=[LeaseOutcome.EXPIRED, LeaseOutcome.RELEASED, LeaseOutcome.SKIPPED])
    counts = rater.leases.aggregate(
        answered=Count("pk", filter=Q(outcome=LeaseOutcome.SUBMITTED)),
        first_as_a=Count("pk", filter=kept & Q(first_side=Side.A)),
        first_as_b=Count("pk", filter=kept & Q(first_side=Side.B)),
    )
    return Tally(**counts)


def rater_progress(rater: Rater) -> tuple[int, int]:
    """Return how many pairs the rater has answered, and how many a session has."""
    return rater_tally(rater).answered, rater.study.session_length


def rater_seconds_per_pair(rater: Rater) -> float:
    """Return the median time of the rater's answers in seconds, or a default before the third."""
    answers = rater.judgments.filter(revises__isnull=True).values_list(
        "shown_at", "submitted_at", "hidden_ms"
    )
    seconds = [(end - start).total_seconds() - hidden / 1000 for start, end, hidden in answers]
    return median(seconds) if len(seconds) > 2 else DEFAULT_SECONDS  # noqa: PLR2004 (too few)


def open_comparisons(rater: Rater) -> QuerySet[Comparison]:
    """Return comparisons with a free slot that the rater was never shown and has no part in."""
    shown = Lease.objects.filter(comparison=OuterRef("pk"), rater=rater)
    free = Comparison.objects.filter(
        ~Exists(shown), study=rater.study_id, slots_left__gt=0, purpose=Purpose.MAIN
    ).order_by("position", "pk")
    if rater.writer_id is None:
        return free
    wrote = WritingLease.objects.filter(context=OuterRef("context"), writer=rater.writer_id)
    return free.filter(~Exists(wrote))


def lease_to_show(lease: Lease) -> Lease:
    """Return the lease with everything its screen needs, in one query."""
    return _leases_to_show().get(pk=lease.pk)


def lease_of(rater: Rater, *, token: uuid.UUID) -> Lease | None:
    """Return the rater's own lease of that token, ready to be shown, or None."""
    return _leases_to_show().filter(rater=rater, token=token).first()


def last_judged_lease(rater: Rater) -> Lease | None:
    """Return the rater's most recently answered lease, ready to be shown again, or None."""
    answered = _leases_to_show().filter(rater=rater, outcome=LeaseOutcome.SUBMITTED)
    return answered.order_by("-closed_at", "-pk").first()


def current_judgment(lease: Lease) -> Judgment | None:
    """Return the newest revision of the lease's judgment, or None."""
    return (
        Judgment.objects.filter(lease=lease, revision__isnull=True)
        .prefetch_related("marks")
        .first()
    )


def is_excluded(rater: Rater) -> bool:
    """Say whether the newest decision on the rater is an exclusion."""
    newest = rater.exclusions.order_by("-decided_at", "-pk").first()
    return newest is not None and newest.is_excluded


def judging_progress(study: Study) -> tuple[int, int]:
    """Return how many of the study's judge calls have ended, and how many there are."""
    calls = JudgeCall.objects.filter(comparison__study=study)
    return calls.filter(ended_at__isnull=False).count(), calls.count()


@dataclass(frozen=True)
class StudyCard:
    """What a visitor may see of a study."""

    slug: str
    title: str
    is_open: bool
    is_simulated: bool


def public_studies() -> list[StudyCard]:
    """Return the studies that have been opened, newest first."""
    simulated = Comparison.objects.filter(study=OuterRef("pk")).filter(
        Q(first__system__is_simulated=True) | Q(second__system__is_simulated=True)
    )
    opened = studies().filter(locked_at__isnull=False).annotate(simulated=Exists(simulated))
    return [
        StudyCard(study.slug, study.title, study.state == StudyState.OPEN, study.simulated)
        for study in opened
    ]


def _leases_to_show() -> QuerySet[Lease]:
    return Lease.objects.select_related(
        "comparison__context", "comparison__first", "comparison__second", "rater__study"
    )
