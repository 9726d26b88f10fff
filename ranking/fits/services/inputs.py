"""The judgments of a fit as arrays, read once for its analyses, and what a stored fit rests on."""

import threading
from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
from django.db.models import Max

from annotation.choices import Protocol
from annotation.models import Study
from ranking.analyses import AnalysisInputs
from ranking.choices import AnalysisKind, EvaluatorPool, FitState
from ranking.fits import queries
from ranking.fits.services.claiming import selection_of
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.frames.columns import (
    read_columns_and_dimensions,
    read_judgments,
    read_scores,
    read_style,
)
from ranking.judgments.frames.groups import read_stamp
from ranking.judgments.frames.sources import DatabaseSources
from ranking.judgments.groups import GroupedJudgments
from ranking.judgments.method import Method, Stamp
from ranking.judgments.scores import implied_columns
from ranking.judgments.sources import OtherOrder
from ranking.judgments.style import FEATURES
from ranking.models import Fit, Rating
from ranking.numerics.arrays import Floats

KEPT_SECONDS = 60.0  # after their last use: a round of analyses asks again within seconds
# These ask for the length of the texts, which takes a second to measure.
OF_STYLE = (
    AnalysisKind.STYLE,
    AnalysisKind.BIAS,
    AnalysisKind.RATIONALES,
    AnalysisKind.JUDGE,
)


@dataclass
class _Read:
    """The judgments of one fit, as they were when they had its hash; numbers, and no texts."""

    fit: tuple[int, str]
    columns: JudgmentColumns
    dimensions: dict[str, JudgmentColumns]
    features: Floats | None = None


class _Shelf:
    """Holds what was read last, for one fit at most, until nobody has asked for a while."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: _Read | None = None
        self._timer: threading.Timer | None = None

    def take(self, fit: Fit) -> _Read | None:
        """Return what was read of this fit, or None."""
        with self._lock:
            read = self._read
        return read if read is not None and read.fit == _name(fit) else None

    def put(self, read: _Read | None) -> None:
        """Hold this in place of what was held, and drop it in a while."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._read, self._timer = read, None
            if read is not None:
                self._timer = threading.Timer(KEPT_SECONDS, self._drop, args=[read])
                self._timer.daemon = True
                self._timer.start()

    def _drop(self, read: _Read) -> None:
        with self._lock:
            if self._read is read:
                self._read = None


_shelf = _Shelf()


def inputs_of(fit: Fit, kind: str) -> AnalysisInputs:
    """Return what an analysis of this kind rests on: exactly the judgments of the fit.

    Read from the database, they are held against the hash of the fit. The arrays are then kept
    for the next analysis of the same fit in this process; before each use it is asked whether
    what counts as of the fit's time is still the same, which is one query.

    Raises
    ------
    JudgmentsChangedError
        If what counts as of the fit's time is something else now.
    """
    if fit.study.protocol == Protocol.LIKERT:
        return _inputs_of_scores(fit)
    read = _shelf.take(fit) or _read(fit)
    check_stamp(fit)
    columns = read.columns
    if kind in OF_STYLE:
        if read.features is None:
            read.features = read_style(selection_of(fit))
        columns = replace(columns, features=read.features, feature_names=FEATURES)
    _shelf.put(read)
    return AnalysisInputs(
        columns=columns,
        method=Method.of(fit.method),
        dimensions=read.dimensions,
        sources=DatabaseSources(selection_of(fit), read.columns),
    )


def _inputs_of_scores(fit: Fit) -> AnalysisInputs:
    """Return the inputs of a likert study: ratings, what they imply, and orders beside."""
    judgments_of(fit)
    scores = read_scores(selection_of(fit))
    check_stamp(fit)
    others = orders_beside(fit)
    columns, method = implied_columns(scores), Method.of(fit.method)
    return AnalysisInputs(columns, method, dimensions={}, scores=scores, others=others)


def orders_beside(fit: Fit) -> tuple[OtherOrder, ...]:
    """Return the newest ratings of other studies of pairs on the same dialogues, by their title.

    Of each study those of the same pool if there are any, else of the most telling; on the same
    contexts, and simulated studies beside simulated ones only. What goes into an analysis of this
    study is read when this one is closed, so of others only what is public. Two queries.
    """
    others = Study.objects.filter(dataset=fit.study.dataset_id, is_simulated=fit.study.is_simulated)
    pairs = others.exclude(protocol=Protocol.LIKERT).exclude(pk=fit.study_id)
    done = Fit.objects.filter(
        queries.PUBLIC, study__in=pairs, context_set=fit.context_set, state=FitState.DONE
    )
    newest = done.order_by().values("study", "pool").annotate(newest=Max("pk")).values("newest")
    found = Fit.objects.filter(pk__in=newest).select_related("study")
    chosen = {
        one.study_id: one
        for one in sorted(found, key=lambda one: (one.pool == fit.pool, -queries.place(one)[0]))
    }
    elo = defaultdict[int, dict[str, float]](dict)
    keys = [one.pk for one in chosen.values()]
    rows = Rating.objects.filter(fit__in=keys).values_list("fit", "system__slug", "elo")
    for pk, slug, points in rows:
        elo[pk][slug] = points
    return tuple(
        OtherOrder(one.study.title, EvaluatorPool(one.pool).label, one.key, elo[one.pk])
        for one in sorted(chosen.values(), key=lambda one: one.study.title)
    )


def _read(fit: Fit) -> _Read:
    judgments_of(fit)
    columns, dimensions = read_columns_and_dimensions(selection_of(fit))
    for one in (columns, *dimensions.values()):
        _protect(one)
    return _Read(_name(fit), columns, dimensions)


def _protect(columns: JudgmentColumns) -> None:
    """Let no analysis change what the next one reads."""
    for array in vars(columns).values():
        if isinstance(array, np.ndarray):
            array.setflags(write=False)


def _name(fit: Fit) -> tuple[int, str]:
    return fit.pk, fit.inputs_hash


CHANGED = (
    "The judgments that count as of this fit's time are no longer those that it was computed from."
)


class JudgmentsChangedError(Exception):
    """The judgments of a fit are no longer those that it was computed from."""

    def __init__(self) -> None:
        super().__init__(CHANGED)


def judgments_of(fit: Fit) -> GroupedJudgments:
    """Read the judgments of an ended fit again.

    Decisions that were made since do not matter: they are no part of what counted then.

    Raises
    ------
    JudgmentsChangedError
        If what counts as of the fit's time is something else now.
    """
    decided = _stamp_of(fit).n_decisions
    judgments = read_judgments(selection_of(fit), is_anew=True)
    found = replace(judgments, n_decisions=decided)
    if found.inputs_hash() != fit.inputs_hash:
        raise JudgmentsChangedError
    return found


def check_stamp(fit: Fit) -> None:
    """See in one query that no judgment joined or left those of an ended fit since it was made.

    Judgments are never edited: whoever has read those of the fit needs to know no more.

    Raises
    ------
    JudgmentsChangedError
        If what counts as of the fit's time is something else now.
    """
    known = _stamp_of(fit)
    if read_stamp(selection_of(fit), n_decisions=known.n_decisions) != known:
        raise JudgmentsChangedError


def _stamp_of(fit: Fit) -> Stamp:
    return Stamp.of(fit.diagnostics["stamp"])
