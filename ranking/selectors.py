"""Reads of the ranking app."""

from django.db.models import Max, QuerySet

from annotation.models import Study
from ranking import rule
from ranking.board_selectors import board_of
from ranking.board_text import as_text
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.models import Fit
from ranking.stamps import Stamp

ENDED = (FitState.DONE, FitState.REFUSED)
# What a reader who names nothing is shown: the first of these that has been fitted.
PREFERRED = (EvaluatorPool.COMBINED, EvaluatorPool.HUMAN, EvaluatorPool.LLM)


def newest_fits(study: Study) -> dict[tuple[EvaluatorPool, ContextSet], Fit]:
    """Return the fit claimed last for each pool and context set, in whatever state."""
    groups = Fit.objects.filter(study=study).values("pool", "context_set")
    newest = groups.annotate(newest=Max("pk")).values("newest")
    return {
        (EvaluatorPool(fit.pool), ContextSet(fit.context_set)): fit
        for fit in Fit.objects.filter(pk__in=newest)
    }


def latest_fit(*, study: Study, pool: EvaluatorPool, context_set: ContextSet) -> Fit | None:
    """Return the fit of the newest analysis set that has ended, done or refused, or None."""
    fits = _ended(study).filter(pool=pool, context_set=context_set)
    return fits.order_by("-as_of", "-pk").first()


def fit_by_key(*, study: Study, key: str) -> Fit | None:
    """Return the ended fit of that permanent name, or None."""
    return _ended(study).filter(key=key).first()


def fitted_selections(study: Study) -> list[tuple[EvaluatorPool, ContextSet]]:
    """Return the pools and context sets that have a fit to show, the most telling first."""
    found = set(_ended(study).values_list("pool", "context_set"))
    return [(pool, name) for pool in PREFERRED for name in ContextSet if (pool, name) in found]


def is_out_of_date(fit: Fit | None) -> bool:
    """Say whether raters left, came back or had their answers deleted since the fit."""
    if fit is None:
        return False
    known = Stamp.of(fit.diagnostics["stamp"])
    return known.n_decisions != rule.n_decisions(fit.study)


def leaderboard_text(fit: Fit) -> str:
    """Return the leaderboard of a fit as a table for a terminal."""
    return as_text(board_of(fit))


def ended_fits(study: Study) -> QuerySet[Fit]:
    """Return the fits of a study that have ended, in whatever way."""
    return Fit.objects.filter(study=study).exclude(state=FitState.RUNNING)


def _ended(study: Study) -> QuerySet[Fit]:
    return Fit.objects.filter(study=study, state__in=ENDED).select_related("study")
