"""Make a study's comparisons, and set how eagerly an adaptive plan hands them out (ADR-0027)."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from access.log import record
from annotation.assignment import design
from annotation.choices import PlanKind, Purpose
from annotation.models import Comparison, Study
from annotation.planning import queries
from annotation.planning.parts import PlannedPair, PlanSummary
from annotation.quality.services.gold import load_gold
from annotation.quality.services.reporting import hold_latecomers
from completions.dialogues.locking import fix_completions, lock_sent_back, lock_texts
from completions.leaks.queries import Held
from completions.leaks.services import hold_leaks
from completions.models import Completion

BATCH = 1000


class PlanReport(NamedTuple):
    """What planning did: completions held, checks that are planted, and the plan counted."""

    n_held: int
    n_checks: int
    summary: PlanSummary
    held: Held


@transaction.atomic
def plan_study(*, study: Study, now: dt.datetime, by: User | None = None) -> PlanReport:
    """Add the comparisons that the study's design wants and does not have yet, and its checks.

    Completions that seem to give their source away are held first, and not paired while an admin
    has not released them. Planning again after new completions came extends the plan and leaves
    what is there alone. A context that a reviewer dropped gets nothing, and keeps what it has.
    What people wrote and the study compares is fixed from then on: its text never changes.

    Raises
    ------
    annotation.quality.gold.GoldError, UnsuitableCheckError, DatasetTakenError
        If the gold set that the study names cannot be planted; nothing is written then.
    """
    # One planner at a time; no_key, so that raters are let in meanwhile.
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    lock_texts(study.dataset_id)  # before anything is read that a reviewer may replace
    lock_sent_back(study.dataset_id)
    draft = queries.draft_plan(study)
    n_held = hold_leaks(dataset=study.dataset, found=draft.leaks, now=now, by=by)
    Comparison.objects.bulk_create(
        (_comparison(study, pair, draft.contexts[pair.context]) for pair in draft.additions),
        batch_size=BATCH,
    )
    n_checks = load_gold(study=study, now=now, by=by)
    hold_latecomers(study, now=now)
    fix_completions(texts=_compared(study), now=now)
    summary = draft.summary
    if draft.additions:
        record(
            action="study.planned",
            subject=f"study {study.slug}",
            now=now,
            by=by,
            after={"added": summary.n_added, "comparisons": summary.n_pairs},
        )
    return PlanReport(n_held, n_checks, summary, draft.held)


def _compared(study: Study) -> QuerySet[Completion]:
    """Return all that the study's comparisons show, those from before included."""
    pairs = study.comparisons
    return Completion.objects.filter(
        Q(pk__in=pairs.values("first")) | Q(pk__in=pairs.values("second"))
    )


def _comparison(study: Study, pair: PlannedPair, context_id: int) -> Comparison:
    first, second = pair.first, pair.second
    key = design.pair_key(
        context_key=pair.context,
        first_hash=first.content_hash,
        second_hash=(second or first).content_hash,
    )
    return Comparison(
        study=study,
        context_id=context_id,
        first_id=first.key,
        second_id=second.key if second else None,
        key=key,
        position=design.pair_position(seed=study.seed, key=key),
        slots_left=study.judgments_per_pair,
    )


WEIGHED_AT_ONCE = 500
ALIKE = 1e-6

PairWeights = Mapping[frozenset[str], float]
"""Positive weights by the slugs of two systems."""


def weigh_comparisons(*, study: Study, weights: PairWeights) -> int:
    """Give the open comparisons of an adaptive study the weights of their pairs of systems.

    Return how many changed. Nothing happens in a balanced study, whose order stays as drawn. A
    comparison that a rater is just being given is passed by, and weighed the next time: raters
    never wait for this.
    """
    if study.plan != PlanKind.ADAPTIVE:
        return 0
    rows = Comparison.objects.filter(study=study, purpose=Purpose.MAIN, slots_left__gt=0)
    by_weight = defaultdict[float, list[int]](list)
    for pk, known, *systems in rows.order_by("pk").values_list(
        "pk", "weight", "first__system__slug", "second__system__slug"
    ):
        weight = weights.get(frozenset(systems), known)
        if abs(weight - known) > ALIKE:
            by_weight[weight].append(pk)
    return sum(
        _weigh(pks[start : start + WEIGHED_AT_ONCE], weight)
        for weight, pks in by_weight.items()
        for start in range(0, len(pks), WEIGHED_AT_ONCE)
    )


@transaction.atomic
def _weigh(pks: list[int], weight: float) -> int:
    free = Comparison.objects.filter(pk__in=pks).order_by("pk")
    locked = free.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True)
    return Comparison.objects.filter(pk__in=list(locked)).update(weight=weight)
