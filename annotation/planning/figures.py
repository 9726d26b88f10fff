"""What the page of a study's plan shows, small enough to be kept."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from annotation.models import Comparison, Study
from annotation.planning import queries, workload
from annotation.planning.pairing import PlanSummary
from annotation.planning.workload import Workload
from annotation.studies.counts import newest_keys, number_of
from annotation.studies.kept import Kind
from completions.choices import HoldState
from completions.leaks.queries import Held
from completions.models import Completion, Context, Hold

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


def plan_figures(study: Study) -> PlanFigures:
    """Return what planning the study now would come to, in eleven queries; nothing is written."""
    draft = queries.draft_plan(study)
    return PlanFigures(
        n_added=len(draft.additions),
        n_leaks=len(draft.leaks),
        n_held_compared=draft.n_held_compared,
        summary=draft.summary,
        held=draft.held,
        work=workload.workload(study, draft),
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


PLAN = Kind("plan", _is_small, _basis, lambda study, _now: plan_figures(study))
