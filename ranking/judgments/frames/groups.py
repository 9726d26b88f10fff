"""Judgments added up in the database."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

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
from ranking.judgments.frames.integers import (
    coded,
    dialogues,
    flag,
    read_integers,
    room,
    systems,
)
from ranking.judgments.frames.kept import Rows, kept_rows
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
    flag(Q(context__stratum=Stratum.ADVERSARIAL)),
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
FACTS = ("dialogue", "first", "second", "is_simulated", "is_adversarial")
ANSWER = ("is_graded", "is_judge", *SUMS)
"""Columns of what is kept, in the orders of `PAIR` and of `read_answers` after the comparison."""
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


def read_groups(selection: Selection, *, is_anew: bool = False) -> GroupedJudgments:
    """Add up the selected judgments by dialogue and pair, with the marks on the dimensions.

    With ``is_anew`` the judgments themselves are counted, whatever is kept.
    """
    judgments = read_verdicts(selection, is_anew=is_anew)
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
    """Read the comparisons of a selection in three queries."""
    pairs = read_pairs(selection)
    return Compared(pairs, dialogues(pairs[:, 1]), systems())


def read_pairs(selection: Selection, *, only: Sequence[int] | None = None) -> Integers:
    """Read what the comparisons of a selection, or of some keys or a range, are: `PAIR`."""
    chosen = selected_pairs(selection)
    if isinstance(only, range):
        chosen = chosen.filter(pk__gte=only.start, pk__lt=only.stop)
    elif only is not None:
        chosen = chosen.filter(pk__in=only)
    return read_integers(chosen.order_by("pk").values_list(*PAIR))


def read_verdicts(
    selection: Selection, compared: Compared | None = None, *, is_anew: bool = False
) -> GroupedJudgments:
    """Add up the same without what the ratings themselves do not need.

    What is kept is taken, where it is of the selection's time. Else one query adds up the answers
    to each comparison, and one says what the comparisons are, unless they are given: no judgment
    is read singly, and none is joined to what its comparison knows.
    """
    if compared is None and not selection.without and not is_anew:
        kept = kept_rows(selection.study, as_of=selection.as_of)
        if kept is not None:
            return _grouped_kept(_of_selection(kept, selection.pool, selection.context_set))
    compared = compared or read_compared(selection)
    return grouped(read_answers(selection, compared.pairs), compared)


def _of_selection(rows: Rows, pool: EvaluatorPool, context_set: ContextSet) -> Rows:
    strata = [stratum == Stratum.ADVERSARIAL for stratum in STRATA[context_set]]
    is_meant = np.isin(rows["is_judge"], list(KINDS[pool])) & np.isin(
        rows["is_adversarial"], strata
    )
    return rows if is_meant.all() else rows[is_meant]


def _grouped_kept(rows: Rows) -> GroupedJudgments:
    facts, answers = ([rows[name] for name in names] for names in (FACTS, ANSWER))
    return _added_up(facts, answers, dialogues(rows["dialogue"]), systems())


def grouped(answers: Integers, compared: Compared) -> GroupedJudgments:
    """Add up answers, as `read_answers` gives them, by dialogue and pair."""
    pairs = compared.pairs
    place = np.searchsorted(pairs[:, 0], answers[:, 0])
    facts, given = list(pairs[place, 1:].T), list(answers[:, 1:].T)
    return _added_up(facts, given, compared.dialogues, compared.systems)


def _added_up(
    facts: Sequence[Integers],
    answers: Sequence[Integers],
    hashes: Mapping[int, str],
    names: Mapping[int, str],
) -> GroupedJudgments:
    """Add up answers, given what each is about: columns in the orders of `FACTS` and `ANSWER`."""
    dialogue, first, second, is_simulated, _ = facts
    *columns, newest, keys = answers
    units, unit = coded(dialogue, hashes)
    slugs, pair = coded(np.stack([first, second]), names)
    places = [column.astype(np.int32) for column in (unit, *pair)]
    del unit, pair  # of ten million judgments 50 MB
    return GroupedJudgments(
        systems=slugs,
        dialogues=units,
        counts=PairCounts.added_up([*places, *columns]),
        newest=int(newest.max(initial=0)),
        sum_of_keys=int(keys.sum()),
        has_simulated_context=bool(is_simulated.any()),
    )


def read_answers(
    selection: Selection, pairs: Integers, *, only: Sequence[int] | None = None
) -> Integers:
    """Add up the selected answers to each comparison that was read, or to some by their keys.

    Returns
    -------
    integer array of shape (n_rows, 10)
        Key of the comparison, whether on the five-point scale, whether by a judge, and `SUMS`.
    """
    keys, answers = pairs[:, 0], selected_answers(selection)
    if not len(keys):
        answers = answers.none()
    elif only is not None:
        answers = answers.filter(comparison__in=only)
    else:
        first, last = int(keys[0]), int(keys[-1])
        answers = answers.filter(comparison__gte=first, comparison__lte=last)
    rows = answers.order_by().values_list(
        "comparison", flag(Q(protocol=Protocol.PREFERENCE)), flag(Q(judge__isnull=False))
    )
    found = read_integers(rows.annotate(**SUMS))
    return found[np.isin(found[:, 0], keys)]


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
    kept = kept_rows(study, as_of=as_of)
    parts = _parts(study, as_of) if kept is None else _parts_kept(kept)
    decisions = n_decisions(study)
    stamps = {}
    for (pool, kinds), (context_set, strata) in product(KINDS.items(), STRATA.items()):
        found = [part[2:] for part in parts if part[0] in kinds and part[1] in strata]
        if found:
            n, newest, keys = zip(*found, strict=True)
            stamps[pool, context_set] = Stamp(sum(n), max(newest), decisions, sum(keys))
    return stamps


def _parts(study: Study, as_of: dt.datetime) -> list[tuple[Any, ...]]:
    """Return how many judgments count, their newest key and the sum of keys, kind by kind."""
    rows = (
        analysis_set(study=study, as_of=as_of)
        .order_by()
        .values_list(flag(Q(judge__isnull=False)), "comparison__context__stratum")
        .annotate(n=Count("pk"), newest=Max("pk"), sum_of_keys=Sum("pk"))
    )
    return list(rows)


def _parts_kept(rows: Rows) -> list[tuple[Any, ...]]:
    parts = []
    for is_judge, stratum in product((False, True), Stratum):
        is_meant = (rows["is_judge"] == is_judge) & (
            rows["is_adversarial"] == (stratum == Stratum.ADVERSARIAL)
        )
        if is_meant.any():
            n, newest, keys = (rows[name][is_meant] for name in ("n", "newest", "sum_of_keys"))
            parts.append((is_judge, stratum, int(n.sum()), int(newest.max()), int(keys.sum())))
    return parts


def read_stamp(selection: Selection, *, n_decisions: int) -> Stamp:
    """Return the stamp of one selection, given how many decisions are behind it; one query."""
    counts = {"n": Count("pk"), "newest": Max("pk", default=0), "keys": Sum("pk", default=0)}
    found = selected(selection).order_by().aggregate(**counts)
    return Stamp(found["n"], found["newest"], n_decisions, found["keys"])


def _read_marks(selection: Selection) -> tuple[MarkGroup, ...]:
    """Count the marks that named a side, by system and dimension, in the database."""
    if selection.pool == EvaluatorPool.HUMAN and selection.study.protocol == Protocol.PREFERENCE:
        return ()  # its raters never see the rubric
    rows = (
        DimensionMark.objects.filter(judgment__in=selected(selection))
        .exclude(advantage=0)
        .values_list("dimension", FIRST, SECOND)
        .annotate(n=Count("pk"), n_first=Count("pk", filter=Q(advantage__gt=0)))
        .order_by()
    )
    wins, totals = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    with room():
        found = list(rows)
    for dimension, first, second, n, n_first in found:
        wins.update({(first, dimension): n_first, (second, dimension): n - n_first})
        totals.update({(first, dimension): n, (second, dimension): n})
    return tuple(MarkGroup(*key, wins[key], totals[key]) for key in sorted(totals))
