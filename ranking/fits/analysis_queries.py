"""Reads of the analyses of fits, and of how ratings moved over time."""

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NamedTuple

from django.db.models import Count, F, Max, Q, QuerySet, Window
from django.db.models.functions import Mod, RowNumber

from annotation.choices import Protocol
from annotation.models import Study
from ranking.boards import missing_from, ranked, refusal_of
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool, FitState
from ranking.fits.queries import ANALYSED, ENDED, PREFERRED, Results, place
from ranking.judgments.method import code_version
from ranking.models import Analysis, Fit, Rating

LOOKED_BACK = 10  # fits; a round of analyses is finished before the next begins
SELECTION = ("study", "pool", "context_set")


class _Begun(NamedTuple):
    """The fit of a selection that was analysed last, and when the last of that was claimed."""

    fit: int
    at: dt.datetime


class Due(NamedTuple):
    """An analysis that is to be computed; ``is_first`` is that of what a reader is shown first."""

    fit: Fit
    kind: str
    is_first: bool


@dataclass(frozen=True)
class _Places:
    """What is known of all selections: their newest ended fits, and those analysed last.

    ``fits`` has these, and those that were published.
    """

    newest: dict[tuple[object, ...], int]
    begun: dict[tuple[object, ...], _Begun]
    fits: dict[int, Fit]
    kinds: dict[int, set[str]]


@cache
def known_kinds() -> tuple[AnalysisKind, ...]:
    """Return the kinds of analyses that can be computed, in the order in which they are shown."""
    # By their files: to ask the package for its modules would load it, and NumPy with it.
    there = {one.name for one in iter_modules([str(Path(__file__).parents[1] / "analyses")])}
    return tuple(kind for kind in AnalysisKind if kind.lower() in there)


def kinds_of(study: Study) -> tuple[AnalysisKind, ...]:
    """Return the kinds that make sense of a study's judgments.

    Most are about judgments of pairs; ratings of single messages have a kind of their own.
    """
    is_alone = study.protocol == Protocol.LIKERT
    return tuple(kind for kind in known_kinds() if (kind == AnalysisKind.LIKERT) == is_alone)


def analyses_of(fit: Fit) -> tuple[Analysis, ...]:
    """Return the analyses of a fit in the order they are shown, of each kind the newest."""
    return analyses_of_fits([fit.pk]).get(fit.pk, ())


def analyses_of_fits(fits: Collection[int]) -> dict[int, tuple[Analysis, ...]]:
    """Return the same of several fits by their keys, in one query; fits without any are absent."""
    found = dict[int, dict[str, Analysis]]()
    for row in Analysis.objects.filter(fit__in=fits).order_by("claimed_at", "pk"):
        found.setdefault(row.fit_id, {})[row.kind] = row
    return {
        fit: tuple(rows[kind] for kind in AnalysisKind if kind in rows)
        for fit, rows in found.items()
    }


def analysed_last(study: Study) -> list[dict[str, Any]]:
    """Return the fits analysed last, each with its analyses and how many of them found something.

    Two queries.
    """
    looked_into = Analysis.objects.filter(fit__study=study).order_by()
    last = looked_into.values("fit__pool", "fit__context_set").annotate(last=Max("fit"))
    fits = sorted(Fit.objects.filter(study=study, pk__in=last.values("last")), key=place)
    found = analyses_of_fits([fit.pk for fit in fits])
    analyses = {fit.pk: found.get(fit.pk, ()) for fit in fits}
    return [
        {
            "fit": fit,
            "analyses": analyses[fit.pk],
            "n_done": sum(one.state == FitState.DONE for one in analyses[fit.pk]),
        }
        for fit in fits
    ]


def analysis_of(fit: Fit, slug: str) -> Analysis | None:
    """Return the newest analysis of a fit by its name in addresses, or None. At most one query.

    Of a fit below the minimum of its study it is given as refused: nothing is read from so little.
    """
    kinds = [kind for kind in AnalysisKind if kind.lower() == slug]
    rows = Analysis.objects.filter(fit=fit, kind__in=kinds)
    found = rows.order_by("-claimed_at", "-pk").first()
    if found is not None and missing_from(fit):
        found.state, found.refusal = FitState.REFUSED, refusal_of(fit)
    return found


def analysed_fit(fit: Fit, fits: QuerySet[Fit]) -> Fit | None:
    """Return which of the fits has the analyses to show beside this one, or None if none has.

    Analyses take longer than fits. So it is the newest fit, up to this one, on the same pool and
    context set of which every analysis has ended, or else the newest of which any has.
    """
    same = fits.filter(pool=fit.pool, context_set=fit.context_set)
    ended = Count("analyses__kind", filter=Q(analyses__state__in=ENDED), distinct=True)
    known = same.filter(as_of__lte=fit.as_of).annotate(n_ended=ended).filter(n_ended__gt=0)
    newest = list(known.select_related("study").order_by("-as_of", "-pk")[:LOOKED_BACK])
    whole = [one for one in newest if one.n_ended >= len(kinds_of(fit.study))]
    return next(iter([*whole, *newest]), None)


def missing_analyses(*, now: dt.datetime, pause: dt.timedelta) -> Iterator[Due]:
    """Yield the analyses that are due, the most telling first.

    Due are those of the newest fit of each pool and context set, once ``pause`` has passed since
    an earlier one was analysed, or at once if a person asked for that fit; in a likert study,
    whose mean points are an analysis, always at once. What was begun on a fit is finished, though
    a newer one may have come. Those of a published fit are due at once, newest or not: the public
    reads nothing else. Four queries, however many studies.
    """
    places = _places()
    targets = [_target(places, selection, now - pause) for selection in places.newest]
    published = [fit for fit in places.fits.values() if fit.published_at is not None]
    found = {fit.pk: fit for fit in (*targets, *published) if fit is not None}
    first = _shown_first(places.newest)
    for fit in sorted(found.values(), key=_rank):
        for kind in kinds_of(fit.study):
            if kind not in places.kinds.get(fit.pk, ()):
                is_first = (fit.study_id, fit.pool, fit.context_set) in first
                yield Due(fit, kind, is_first)


def newest_claim() -> dt.datetime | None:
    """Return when an analysis was claimed last, of whatever study."""
    found: dt.datetime | None = Analysis.objects.aggregate(at=Max("claimed_at"))["at"]
    return found


def _places() -> _Places:
    ended = Fit.objects.filter(state__in=ENDED).order_by()
    newest = {row[:3]: row[3] for row in ended.values_list(*SELECTION).annotate(at=Max("pk"))}
    analysed = Analysis.objects.filter(code_version=code_version()).order_by()
    groups = analysed.values_list(*(f"fit__{name}" for name in SELECTION))
    rows = groups.annotate(last=Max("fit"), at=Max("claimed_at"))
    begun = {row[:3]: _Begun(*row[3:]) for row in rows}
    keys = {*newest.values(), *(one.fit for one in begun.values())}
    chosen = Q(pk__in=keys) | Q(published_at__isnull=False)
    fits = Fit.objects.filter(ANALYSED, chosen, code_version=code_version())
    by_key = {fit.pk: fit for fit in fits.select_related("study")}
    kinds = dict[int, set[str]]()
    for fit, kind in analysed.filter(fit__in=by_key).values_list("fit", "kind"):
        kinds.setdefault(fit, set()).add(kind)
    return _Places(newest, begun, by_key, kinds)


def _target(places: _Places, selection: tuple[object, ...], before: dt.datetime) -> Fit | None:
    """Return the fit of a selection that is to be analysed now."""
    newest = places.fits.get(places.newest[selection])
    begun = places.begun.get(selection)
    if newest is not None and (newest.is_on_request or newest.study.protocol == Protocol.LIKERT):
        return newest
    if begun is None or begun.at <= before:
        return newest
    return places.fits.get(begun.fit)


def _rank(fit: Fit) -> tuple[int, ...]:
    return *place(fit), fit.pk


def _shown_first(selections: Iterable[tuple[object, ...]]) -> set[tuple[object, ...]]:
    """Return of each study the selection that a reader is shown who names none."""
    first = {selection[0]: selection for selection in sorted(selections, key=_order, reverse=True)}
    return set(first.values())


def _order(selection: tuple[object, ...]) -> tuple[int, int]:
    """Return the place of a selection among those of its study, the most telling first."""
    pool, context_set = EvaluatorPool(str(selection[1])), ContextSet(str(selection[2]))
    return PREFERRED.index(pool), list(ContextSet).index(context_set)


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
    is never. Fits that were refused have no ratings and are no points, nor are those below the
    minimum of the study. Where the version of the code changes, ratings may have moved without a
    judgment.
    """
    fits = results.fits.filter(pool=pool, context_set=context_set, state=FitState.DONE)
    fits = fits.filter(ranked(results.study))
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
