"""Judgments added up in the database."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from django.db.models import Count, IntegerField, Max, Q, QuerySet, Sum, Value

from annotation.choices import Protocol
from annotation.models import DimensionMark, ExternalJudgment, Study
from completions.choices import Stratum
from ranking.choices import ContextSet, EvaluatorPool
from ranking.judgments.analysis_set import (
    Selection,
    analysis_set,
    n_decisions,
    selected,
    selected_answers,
    selected_pairs,
)
from ranking.judgments.frames.integers import coded, dialogues, flag, read_integers, systems
from ranking.judgments.groups import GroupedJudgments, MarkGroup, PairCounts
from ranking.judgments.method import Stamp
from ranking.numerics.arrays import Integers

FIRST = "judgment__comparison__first__system__slug"
SECOND = "judgment__comparison__second__system__slug"
FOR_FIRST, FOR_SECOND = Q(verdict__gt=0), Q(verdict__lt=0)
PAIR = (
    "pk",
    "context__dialogue",
    "first__system",
    "second__system",
    flag(Q(context__is_simulated=True)),
)
SUMS = {
    "n": Count("pk"),
    "n_first": Count("pk", filter=FOR_FIRST),
    "n_second": Count("pk", filter=FOR_SECOND),
    "size_first": Sum("verdict", filter=FOR_FIRST, default=0),
    "size_second": -Sum("verdict", filter=FOR_SECOND, default=0),
    "newest": Max("pk"),
    "sum_of_keys": Sum("pk"),
}
STRATA = {
    ContextSet.ALL: set(Stratum),
    ContextSet.REGULAR: {Stratum.REGULAR},
    ContextSet.ADVERSARIAL: {Stratum.ADVERSARIAL},
}
KINDS = {
    EvaluatorPool.HUMAN: {False},
    EvaluatorPool.LLM: {True},
    EvaluatorPool.COMBINED: {False, True},
}


def read_groups(selection: Selection) -> GroupedJudgments:
    """Add up the selected judgments by dialogue and pair, with the marks on the dimensions."""
    judgments = read_verdicts(selection)
    decisions = n_decisions(selection.study)
    return replace(judgments, marks=_read_marks(selection), n_decisions=decisions)


@dataclass(frozen=True)
class Compared:
    """The comparisons that may count, by key, and the names of what they compare.

    They are the same whoever judged them: selections that differ in their evaluators share them.
    """

    pairs: Integers
    dialogues: Mapping[int, str]
    systems: Mapping[int, str]


def read_compared(selection: Selection) -> Compared:
    """Read the comparisons of a selection, in three queries."""
    pairs = read_integers(selected_pairs(selection).order_by("pk").values_list(*PAIR))
    return Compared(pairs, dialogues(pairs[:, 1]), systems())


def read_verdicts(selection: Selection, compared: Compared | None = None) -> GroupedJudgments:
    """Add up the same without what the ratings themselves do not need.

    One query adds up the answers to each comparison, and one says what the comparisons are,
    unless they are given: no judgment is read singly, and none is joined to what its comparison
    knows.
    """
    compared = compared or read_compared(selection)
    return grouped(read_answers(selection, compared), compared)


def grouped(answers: Integers, compared: Compared) -> GroupedJudgments:
    """Add up answers, as `read_answers` gives them, by dialogue and pair."""
    pairs = compared.pairs
    place = np.searchsorted(pairs[:, 0], answers[:, 0])
    _, dialogue, first, second, is_simulated = pairs[place].T
    units, unit = coded(dialogue, compared.dialogues)
    slugs, (first, second) = coded(np.stack([first, second]), compared.systems)
    columns = (unit, first, second, *answers[:, 1:-2].T)
    newest, keys = answers[:, -2:].T
    return GroupedJudgments(
        systems=slugs,
        dialogues=units,
        counts=PairCounts.added_up(np.stack(columns, axis=1)),
        newest=int(newest.max(initial=0)),
        sum_of_keys=int(keys.sum()),
        has_simulated_context=bool(is_simulated.any()),
    )


def read_answers(selection: Selection, compared: Compared) -> Integers:
    """Add up the selected answers to each comparison.

    Returns
    -------
    integer array of shape (n_rows, 10)
        Key of the comparison, whether on the five-point scale, whether by a judge, and `SUMS`.
    """
    pairs, answers = compared.pairs[:, 0], selected_answers(selection)
    if not len(pairs):
        answers = answers.none()
    else:
        first, last = int(pairs[0]), int(pairs[-1])
        answers = answers.filter(comparison__gte=first, comparison__lte=last)
    rows = answers.order_by().values_list(
        "comparison", flag(Q(protocol=Protocol.PREFERENCE)), flag(Q(judge__isnull=False))
    )
    found = read_integers(rows.annotate(**SUMS))
    return found[np.isin(found[:, 0], pairs)]


def read_outside(
    answers: QuerySet[ExternalJudgment], compared: Compared, *, is_graded: bool
) -> Integers:
    """Add up answers from elsewhere as `read_answers` does those of the study's people."""
    scale, judge = (Value(number, IntegerField()) for number in (int(is_graded), 0))
    rows = answers.filter(verdict__isnull=False).order_by().values_list("comparison", scale, judge)
    found = read_integers(rows.annotate(**SUMS))
    return found[np.isin(found[:, 0], compared.pairs[:, 0])]


def read_stamps(
    *, study: Study, as_of: dt.datetime
) -> dict[tuple[EvaluatorPool, ContextSet], Stamp]:
    """Return the stamp of each pool and context set that has judgments, without reading them."""
    rows = (
        analysis_set(study=study, as_of=as_of)
        .order_by()
        .values_list(flag(Q(judge__isnull=False)), "comparison__context__stratum")
        .annotate(n=Count("pk"), newest=Max("pk"), sum_of_keys=Sum("pk"))
    )
    parts, decisions = list(rows), n_decisions(study)
    stamps = {}
    for (pool, kinds), (context_set, strata) in product(KINDS.items(), STRATA.items()):
        found = [part[2:] for part in parts if part[0] in kinds and part[1] in strata]
        if found:
            n, newest, keys = zip(*found, strict=True)
            stamps[pool, context_set] = Stamp(sum(n), max(newest), decisions, sum(keys))
    return stamps


def read_stamp(selection: Selection, *, n_decisions: int) -> Stamp:
    """Return the stamp of one selection, given how many decisions are behind it; one query."""
    counts = {"n": Count("pk"), "newest": Max("pk", default=0), "keys": Sum("pk", default=0)}
    found = selected(selection).order_by().aggregate(**counts)
    return Stamp(found["n"], found["newest"], n_decisions, found["keys"])


def _read_marks(selection: Selection) -> tuple[MarkGroup, ...]:
    """Count the marks that named a side, by system and dimension, in the database."""
    rows = (
        DimensionMark.objects.filter(judgment__in=selected(selection))
        .exclude(advantage=0)
        .values_list("dimension", FIRST, SECOND)
        .annotate(n=Count("pk"), n_first=Count("pk", filter=Q(advantage__gt=0)))
        .order_by()
    )
    wins, totals = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for dimension, first, second, n, n_first in rows:
        wins.update({(first, dimension): n_first, (second, dimension): n - n_first})
        totals.update({(first, dimension): n, (second, dimension): n})
    return tuple(MarkGroup(*key, wins[key], totals[key]) for key in sorted(totals))
