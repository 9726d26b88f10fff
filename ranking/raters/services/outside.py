"""Judgments made elsewhere beside those of the study's people: agreement, and ratings with both."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.choices import Protocol
from annotation.external.queries import batches_of
from annotation.models import ExternalDecision, ExternalJudgment, Study
from annotation.studies.counts import has_few_judgments, newest_keys
from annotation.studies.stored_figures import FiguresKind
from completions.models import System
from ranking.choices import ContextSet, EvaluatorPool
from ranking.fits.services.claiming import method_of
from ranking.judgments.analysis_set import Selection
from ranking.judgments.frames.groups import (
    Compared,
    grouped,
    read_answers,
    read_compared,
    read_outside,
)
from ranking.judgments.method import Method
from ranking.numerics.agreement.coefficients import cohen_kappas
from ranking.numerics.agreement.opinions import observed_agreement
from ranking.numerics.agreement.resampled import (
    IntervalEstimate,
    draw_times,
    estimated,
    ratio,
)
from ranking.numerics.arrays import Integers
from ranking.raters.services.reviewing import MOST_LIVE, Movement, basis_of, movement

N, N_FIRST, N_SECOND = 3, 4, 5
"""Columns of answers that are added up, see `read_answers`."""
NO_FIGURE = float("nan")


@dataclass(frozen=True)
class OutsideAgreement:
    """How far answers from elsewhere agree with the study's people, on pairs that both judged.

    ``across`` is the share of two answers to one pair, one of each side, that are the same, with
    its interval over resampled dialogues; ``own`` and ``outside`` are those of two answers of one
    side. Of the pairs ``n_decided`` have a majority on both sides, the same in ``n_same``, with
    ``kappa`` (Cohen 1960). What cannot be told is NaN.
    """

    name: str
    is_simulated: bool
    n_pairs: int
    across: IntervalEstimate
    own: float
    outside: float
    n_decided: int
    n_same: int
    kappa: float


@dataclass(frozen=True)
class OutsideCompared:
    """The agreement of each batch and of all, and how the ratings move with them."""

    rows: tuple[OutsideAgreement, ...]
    movement: Movement | None


def compare_outside(study: Study, now: dt.datetime) -> OutsideCompared:
    """Hold the batches that are not left out against the study's own people."""
    batches = [one for one in batches_of(study, as_of=now) if not vars(one)["is_out"]]
    if study.protocol == Protocol.LIKERT or not batches:
        return OutsideCompared((), None)
    selection = Selection(study, EvaluatorPool.HUMAN, ContextSet.ALL, now)
    compared = read_compared(selection)
    own = read_answers(selection, compared.pairs)
    is_graded = study.protocol == Protocol.PREFERENCE

    def read(keys: Sequence[int]) -> Integers:
        given = ExternalJudgment.objects.filter(batch__in=keys)
        return read_outside(given, compared, is_graded=is_graded)

    method = method_of(study, EvaluatorPool.HUMAN)
    everything = read([one.pk for one in batches])
    rows = [
        _agreement(f"{one.source}: {one.reference}", one.is_simulated, own, given, compared, method)
        for one in batches
        for given in [everything if len(batches) == 1 else read([one.pk])]
    ]
    if len(batches) > 1:
        is_simulated = any(one.is_simulated for one in batches)
        rows.append(_agreement("", is_simulated, own, everything, compared, method))
    both = (
        grouped(own, compared),
        grouped(np.concatenate([own, everything]), compared),
    )
    names = dict(System.objects.values_list("slug", "name"))
    return OutsideCompared(tuple(rows), movement(EvaluatorPool.HUMAN.label, names, both, method))


def _agreement(
    name: str,
    is_simulated: bool,  # noqa: FBT001 (of the batch)
    own: Integers,
    outside: Integers,
    compared: Compared,
    method: Method,
) -> OutsideAgreement:
    pairs, here, there = np.intersect1d(own[:, 0], outside[:, 0], return_indices=True)
    ours, theirs = _counts(own[here]), _counts(outside[there])
    alike = (ours * theirs).sum(axis=1).astype(np.float64)
    met = (ours.sum(axis=1) * theirs.sum(axis=1)).astype(np.float64)
    dialogue = compared.pairs[np.searchsorted(compared.pairs[:, 0], pairs), 1]
    units, unit = np.unique(dialogue, return_inverse=True)
    if len(pairs):
        times = draw_times(len(units), method.replicates, np.random.default_rng(method.seed))
        share = ratio(alike, met, unit, n_units=len(units))
        across = estimated(share, len(units), times, level=method.level)
    else:
        across = IntervalEstimate(NO_FIGURE, NO_FIGURE, NO_FIGURE)
    table = _majorities(ours, theirs)
    n_decided = int(table.sum())
    return OutsideAgreement(
        name=name,
        is_simulated=is_simulated,
        n_pairs=len(pairs),
        across=across,
        own=observed_agreement(ours),
        outside=observed_agreement(theirs),
        n_decided=n_decided,
        n_same=int(np.trace(table)),
        kappa=float(cohen_kappas(table[None])[0]) if n_decided else NO_FIGURE,
    )


def _counts(answers: Integers) -> Integers:
    """Return how often each pair was answered: the second, a tie, the first."""
    n, first, second = answers[:, N], answers[:, N_FIRST], answers[:, N_SECOND]
    counts: Integers = np.stack([second, n - first - second, first], axis=1)
    return counts


def _majorities(ours: Integers, theirs: Integers) -> Integers:
    """Count the pairs by what most of us and most of them say; an even split is no majority."""
    is_decided = np.ones(len(ours), dtype=np.bool_)
    for counts in (ours, theirs):
        is_decided &= (counts == counts.max(axis=1, keepdims=True, initial=0)).sum(axis=1) == 1
    table = np.zeros((3, 3), dtype=np.int64)
    np.add.at(table, (ours[is_decided].argmax(axis=1), theirs[is_decided].argmax(axis=1)), 1)
    return table


def _is_small(study: Study) -> bool:
    few = ExternalJudgment.objects.filter(batch__study=study)[: MOST_LIVE + 1].count() <= MOST_LIVE
    return few and has_few_judgments(study, most=MOST_LIVE)


def _basis(study: Study) -> object:
    return basis_of(study), newest_keys(ExternalJudgment, ExternalDecision)


OUTSIDE = FiguresKind("external", _is_small, _basis, compare_outside)
