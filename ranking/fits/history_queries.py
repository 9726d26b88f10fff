"""Reads of how ratings moved: the fits of a selection over time, thinned in the database."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.models import F, QuerySet, Window
from django.db.models.functions import Mod, RowNumber

from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.fits.selectors import Results
from ranking.models import Fit, Rating

MOST_POINTS = 200
FIT = ("fit__as_of", "fit__key", "fit__code_version", "fit__n_judgments", "fit__is_simulated")
RATING = ("system__slug", "elo", "elo_low", "elo_high")


class Band(NamedTuple):
    """The rating of a system at a time, in points."""

    elo: float
    low: float
    high: float


@dataclass(frozen=True)
class HistoryPoint:
    """One fit of the past: when, its permanent name, its code, and each system by its slug.

    ``is_simulated`` says whether a system, a person or a judge behind it is.
    """

    as_of: dt.datetime
    key: str
    code_version: str
    n_judgments: int
    is_simulated: bool
    systems: Mapping[str, Band]


def history(
    results: Results, pool: EvaluatorPool, context_set: ContextSet, *, most: int = MOST_POINTS
) -> tuple[HistoryPoint, ...]:
    """Return the ratings of a selection that may be read, the oldest first, in two queries.

    Of more than ``most`` fits every second is left out, or two of three, and so on; the newest
    is never. Fits that were refused have no ratings and are no points. Where the version of the
    code changes, ratings may have moved without a judgment.
    """
    fits = results.fits.filter(pool=pool, context_set=context_set, state=FitState.DONE)
    kept = _every(fits, step=-(-fits.count() // most))
    ratings = Rating.objects.filter(fit__in=kept.values("pk"))
    rows = ratings.order_by("fit__as_of", "fit", "system__slug").values_list(*FIT, *RATING)
    grouped = groupby(rows, key=itemgetter(*range(len(FIT))))
    return tuple(_point(fit, list(of_fit)) for fit, of_fit in grouped)


def _point(fit: tuple[Any, ...], rows: Sequence[tuple[Any, ...]]) -> HistoryPoint:
    as_of, key, code_version, n_judgments, is_simulated = fit
    bands = {row[len(FIT)]: Band(*row[len(FIT) + 1 :]) for row in rows}
    return HistoryPoint(as_of, key, code_version, n_judgments, is_simulated, bands)


def _every(fits: QuerySet[Fit], *, step: int) -> QuerySet[Fit]:
    """Return each fit that is ``step`` after the last one kept, counted from the newest."""
    if step <= 1:
        return fits
    place = Window(RowNumber(), order_by=[F("as_of").desc(), F("pk").desc()])
    return fits.annotate(place=place).annotate(rest=Mod("place", step)).filter(rest=1)
