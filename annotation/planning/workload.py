"""Reads of what a plan asks of people and of judges, and what it still lacks."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Avg, Count

from annotation.choices import Protocol, Purpose
from annotation.models import Judge, Judgment, Study
from annotation.planning.queries import PlanDraft
from annotation.studies import pace
from completions.models import Completion, Context

ORDERS = 2
"""A judge is asked about a pair in both display orders, about a message alone once."""


@dataclass(frozen=True)
class JudgeWork:
    """What one judge would be asked; ``cost_usd`` is None while no call to it has told a price."""

    name: str
    is_simulated: bool
    n_calls: int
    cost_usd: Decimal | None


@dataclass(frozen=True)
class Lacking:
    """A system without a completion in some contexts."""

    name: str
    n: int


@dataclass(frozen=True)
class Workload:
    """What a plan comes to in work.

    ``n_wanted`` are all judgments by people of the comparisons there would be, ``n_given`` those
    that came already.
    """

    n_contexts: int
    n_systems: int
    n_comparisons: int
    n_wanted: int
    n_given: int
    n_raters: int
    judges: tuple[JudgeWork, ...]
    lacking: tuple[Lacking, ...]


def workload(study: Study, draft: PlanDraft) -> Workload:
    """Return what the plan asks for, in four queries."""
    n_comparisons = draft.summary.n_pairs
    n_wanted = n_comparisons * study.judgments_per_pair
    n_given = Judgment.objects.filter(
        comparison__study=study,
        comparison__purpose=Purpose.MAIN,
        rater__isnull=False,
        revises__isnull=True,
    ).count()
    there = _completions(study)
    n_contexts = Context.objects.in_use().filter(dataset=study.dataset_id).count()
    checks = study.content.get("checks") or {}
    n_raters = pace.raters_needed(
        n_judgments=max(0, n_wanted - n_given),
        session_length=study.session_length,
        planted=checks.get("rate", 0) + checks.get("repeat_rate", 0),
        per_pair=study.judgments_per_pair,
    )
    return Workload(
        n_contexts=n_contexts,
        n_systems=len(there),
        n_comparisons=n_comparisons,
        n_wanted=n_wanted,
        n_given=n_given,
        n_raters=n_raters,
        judges=_judges(study, n_comparisons),
        lacking=tuple(Lacking(name, n_contexts - n) for name, n in there.items() if n < n_contexts),
    )


def _completions(study: Study) -> Mapping[str, int]:
    """Return in how many contexts in use each system has a completion, by its name."""
    contexts = Context.objects.in_use().filter(dataset=study.dataset_id)
    rows = (
        Completion.objects.filter(context__in=contexts, erased_at=None)
        .order_by("system__name")
        .values_list("system__name")
        .annotate(n=Count("context", distinct=True))
    )
    return dict(rows)


def _judges(study: Study, n_comparisons: int) -> tuple[JudgeWork, ...]:
    orders = 1 if study.protocol == Protocol.LIKERT else ORDERS
    judges = Judge.objects.annotate(usual=Avg("calls__cost_usd"))
    n_calls = n_comparisons * orders
    return tuple(
        JudgeWork(
            judge.name,
            judge.is_simulated,
            n_calls,
            None if judge.usual is None else Decimal(judge.usual) * n_calls,
        )
        for judge in judges.order_by("is_simulated", "name")
    )
