"""Set how eagerly an adaptive plan hands each comparison out."""

from collections import defaultdict
from collections.abc import Mapping

from django.db import transaction

from annotation.choices import PlanKind, Purpose
from annotation.models import Comparison, Study

BATCH = 500
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
    wanted = defaultdict[float, list[int]](list)
    for pk, known, *systems in rows.order_by("pk").values_list(
        "pk", "weight", "first__system__slug", "second__system__slug"
    ):
        weight = weights.get(frozenset(systems), known)
        if abs(weight - known) > ALIKE:
            wanted[weight].append(pk)
    return sum(
        _weigh(pks[start : start + BATCH], weight)
        for weight, pks in wanted.items()
        for start in range(0, len(pks), BATCH)
    )


@transaction.atomic
def _weigh(pks: list[int], weight: float) -> int:
    free = Comparison.objects.filter(pk__in=pks).order_by("pk")
    locked = free.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True)
    return Comparison.objects.filter(pk__in=list(locked)).update(weight=weight)
