"""What the page of a study's plan shows, with the work that the plan asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Avg, Count, QuerySet, Sum

from annotation.choices import Protocol, Purpose
from annotation.models import Comparison, Judge, Study
from annotation.planning import queries
from annotation.planning.pairing.parts import PlanSummary, StratumSummary
from annotation.planning.queries import PlanDraft
from annotation.studies import pace
from annotation.studies.counts import newest_keys, number_of
from annotation.studies.stored_figures import FiguresKind
from completions.choices import HoldState, Stratum
from completions.leaks.queries import Held
from completions.models import Completion, Context, Hold

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

    ``n_wanted`` are all judgments by people of the comparisons there would be.
    """

    n_contexts: int
    n_systems: int
    n_comparisons: int
    n_wanted: int
    n_raters: int
    judges: tuple[JudgeWork, ...]
    lacking: tuple[Lacking, ...]


def workload(study: Study, draft: PlanDraft) -> Workload:
    """Return what the plan asks for, in four queries."""
    n_comparisons = draft.summary.n_pairs
    n_wanted = n_comparisons * study.judgments_per_pair
    # Slots that are taken: repeats take none, and those of deleted answers went back.
    planned = Comparison.objects.filter(study=study, purpose=Purpose.MAIN)
    there = planned.aggregate(n=Count("pk"), slots_left=Sum("slots_left", default=0))
    n_taken = there["n"] * study.judgments_per_pair - there["slots_left"]
    texts = _completions(study)
    n_contexts = Context.objects.in_use().filter(dataset=study.dataset_id).count()
    checks = study.content.get("checks") or {}
    n_raters = pace.raters_needed(
        n_judgments=max(0, n_wanted - max(0, n_taken)),
        session_length=study.session_length,
        planted=checks.get("rate", 0) + checks.get("repeat_rate", 0),
        per_pair=study.judgments_per_pair,
    )
    return Workload(
        n_contexts=n_contexts,
        n_systems=len(texts),
        n_comparisons=n_comparisons,
        n_wanted=n_wanted,
        n_raters=n_raters,
        judges=_judges(study, n_comparisons),
        lacking=(
            *(Lacking(name, n_contexts - n) for name, n in texts.items() if n < n_contexts),
            *(Lacking(slug, n_contexts) for slug in queries.absent_systems(study)),
        ),
    )


def _completions(study: Study) -> Mapping[str, int]:
    """Return in how many contexts in use each system has a completion, by its name."""
    contexts = Context.objects.in_use().filter(dataset=study.dataset_id)
    rows = (
        queries.texts_of(study)
        .filter(context__in=contexts)
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


MOST_LIVE = 200
"""Completions of a dataset whose texts a page filters, and pairs, itself."""


@dataclass(frozen=True)
class PlanFigures:
    """What planning would add, hold and come to, counted."""

    n_added: int
    n_leaks: int
    n_held_compared: int
    summary: PlanSummary
    held: Held
    work: Workload

    @property
    def strata(self) -> list[tuple[str, StratumSummary]]:
        """The strata by the names that people read."""
        return [(Stratum(one.name).label, one) for one in self.summary.strata]


def plan_figures(study: Study) -> PlanFigures:
    """Return what planning the study now would come to, in eleven queries; nothing is written."""
    draft = queries.draft_plan(study)
    return PlanFigures(
        n_added=len(draft.additions),
        n_leaks=len(draft.leaks),
        n_held_compared=draft.n_held_compared,
        summary=draft.summary,
        held=draft.held,
        work=workload(study, draft),
    )


def _is_small(study: Study) -> bool:
    texts = Completion.objects.filter(context__dataset=study.dataset_id)
    return texts[: MOST_LIVE + 1].count() <= MOST_LIVE


def _basis(study: Study) -> object:
    """Return what a plan rests on: the study's design, what is in use, and the newest rows.

    Counting all texts would take long; those of another dataset make it old now and then.
    """
    design = (
        study.protocol,
        study.seed,
        study.pairs_per_context,
        study.judgments_per_pair,
        study.session_length,
        study.content.get("checks"),
        study.content.get("systems"),
    )
    contexts = Context.objects.filter(dataset=study.dataset_id)
    texts = Completion.objects.filter(context__dataset=study.dataset_id)
    holds = Hold.objects.filter(completion__context__dataset=study.dataset_id)
    wanted: dict[str, QuerySet[Any]] = {
        "contexts": contexts.in_use(),
        # Only what people wrote ever is: the others need not be looked at.
        "erased": texts.filter(erased_at__isnull=False, writer__isnull=False),
        **{state: holds.filter(state=state) for state in HoldState.values},
    }
    counts = {f"n_{name}": number_of(rows) for name, rows in wanted.items()}
    counted: Any = Study.objects.filter(pk=study.pk).values(**counts)
    return design, counted.get(), newest_keys(Completion, Comparison)


PLAN = FiguresKind("plan", _is_small, _basis, lambda study, _now: plan_figures(study))
