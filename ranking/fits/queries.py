"""Reads of fits: who may read which, how they stand as computations, and what they took."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import Max, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.choices import Protocol, StudyState
from annotation.models import Study
from annotation.overview.progress import Alert
from ranking.boards import as_text, board_of
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.judgments import analysis_set
from ranking.judgments.method import Stamp
from ranking.models import Fit

# Ratings of single messages have means even where they imply no order by pairs.
ANALYSED = Q(state=FitState.DONE) | Q(state=FitState.REFUSED, study__protocol=Protocol.LIKERT)
ENDED = (FitState.DONE, FitState.REFUSED)
PUBLIC = Q(study__state=StudyState.CLOSED) | Q(published_at__isnull=False)
"""Of ended fits: everybody may read them."""
# What a reader who names nothing is shown: the first of these that has been fitted.
PREFERRED = (EvaluatorPool.COMBINED, EvaluatorPool.HUMAN, EvaluatorPool.LLM)
CLAIM_LENGTH = dt.timedelta(minutes=2)  # of a fit; after that its worker counts as lost
SHOWN = 30


def newest_fits(study: Study) -> dict[tuple[EvaluatorPool, ContextSet], Fit]:
    """Return the fit claimed last for each pool and context set, in whatever state."""
    newest = _newest(Fit.objects.filter(study=study))
    return {(EvaluatorPool(fit.pool), ContextSet(fit.context_set)): fit for fit in newest}


@dataclass(frozen=True)
class Results:
    """What somebody may read of the results of a study; ``is_team``: they are of its team.

    While judgments come in, whoever gives one could learn from what moves who wrote what. So
    until the study is closed everybody else reads nothing but what an owner published: fits that
    stay as they are.
    """

    study: Study
    is_team: bool

    @property
    def is_embargoed(self) -> bool:
        """Whether the study is not closed, so that its newest results are the team's alone."""
        return self.study.state != StudyState.CLOSED

    @property
    def has_all(self) -> bool:
        """Whether all of it may be read."""
        return self.is_team or not self.is_embargoed

    @property
    def fits(self) -> QuerySet[Fit]:
        """The fits that may be read: those that ended, done or refused."""
        ended = Fit.objects.filter(study=self.study, state__in=ENDED).select_related("study")
        return ended if self.has_all else ended.filter(PUBLIC)

    def latest(self, pool: EvaluatorPool, context_set: ContextSet) -> Fit | None:
        """Return the fit of the newest analysis set, or None."""
        fits = self.fits.filter(pool=pool, context_set=context_set)
        return fits.order_by("-as_of", "-pk").first()

    def by_key(self, key: str) -> Fit | None:
        """Return the fit of that permanent name, or None."""
        return self.fits.filter(key=key).first()

    def selections(self) -> list[tuple[EvaluatorPool, ContextSet]]:
        """Return the pools and context sets that have a fit to show, the most telling first."""
        found = set(self.fits.values_list("pool", "context_set"))
        return [(pool, name) for pool in PREFERRED for name in ContextSet if (pool, name) in found]


def latest_fit(*, study: Study, pool: EvaluatorPool, context_set: ContextSet) -> Fit | None:
    """Return the newest of all fits of a pool and context set that ended, or None."""
    return Results(study, is_team=True).latest(pool, context_set)


def fit_by_key(*, study: Study, key: str) -> Fit | None:
    """Return the fit of that permanent name among all that ended, or None."""
    return Results(study, is_team=True).by_key(key)


def n_published(fit: Fit) -> int:
    """Count the published fits of the same judgments' pool and context set, but for this one."""
    same = Fit.objects.filter(study=fit.study_id, pool=fit.pool, context_set=fit.context_set)
    return same.filter(published_at__isnull=False).exclude(pk=fit.pk).count()


def is_out_of_date(fit: Fit | None) -> bool:
    """Say whether raters left, came back or had their answers deleted since the fit."""
    if fit is None:
        return False
    known = Stamp.of(fit.diagnostics["stamp"])
    return known.n_decisions != analysis_set.n_decisions(fit.study)


def leaderboard_text(fit: Fit) -> str:
    """Return the leaderboard of a fit as a table for a terminal."""
    return as_text(board_of(fit))


def n_under_way(study: Study, *, now: dt.datetime) -> int:
    """Count the fits of a study that a worker has, unless the worker counts as lost."""
    running = Fit.objects.filter(study=study, state=FitState.RUNNING)
    return running.filter(claimed_at__gt=now - CLAIM_LENGTH).count()


def newest_done(study: Study) -> list[Fit]:
    """Return the newest fit of each pool and context set, where it is done."""
    return [fit for fit in newest_analysed(study) if fit.state == FitState.DONE]


def newest_analysed(study: Study) -> list[Fit]:
    """Return the newest fit of each pool and context set, where it can be looked into."""
    newest = _newest(Fit.objects.filter(study=study).exclude(state=FitState.RUNNING))
    return sorted(newest.filter(ANALYSED).select_related("study"), key=place)


def refused_alerts(study: Study) -> list[Alert]:
    """Return an alert for each pool whose newest fit was refused, in one query."""
    kinds = Fit.objects.filter(
        study=OuterRef("study"), pool=OuterRef("pool"), context_set=OuterRef("context_set")
    )
    newest = kinds.exclude(state=FitState.RUNNING).order_by("-as_of", "-pk").values("pk")[:1]
    fits = Fit.objects.filter(study=study, state=FitState.REFUSED, pk=Subquery(newest))
    url = reverse("raters:fits", args=[study.slug])
    return [
        Alert(
            _("No ratings of %(pool)s: %(why)s")
            % {"pool": f"{fit.get_pool_display()}, {fit.get_context_set_display()}", "why": why},
            url,
        )
        for fit in fits.order_by("pool", "context_set")
        if (why := fit.refusal)
    ]


def fits_of(study: Study, *, most: int = SHOWN) -> list[Fit]:
    """Return the fits of a study in whatever state, the newest first."""
    return list(Fit.objects.filter(study=study).order_by("-as_of", "-pk")[:most])


def newest_of(study: Study) -> list[Fit]:
    """Return the fit claimed last for each pool and context set, in whatever state."""
    return sorted(_newest(Fit.objects.filter(study=study)), key=place)


def _newest(fits: QuerySet[Fit]) -> QuerySet[Fit]:
    """Return the fit claimed last for each pool and context set."""
    groups = fits.order_by().values("pool", "context_set").annotate(newest=Max("pk"))
    return Fit.objects.filter(pk__in=groups.values("newest"))


def place(fit: Fit) -> tuple[int, int]:
    """Return the place of a fit among those of its study, the most telling first."""
    pool, context_set = EvaluatorPool(fit.pool), ContextSet(fit.context_set)
    return PREFERRED.index(pool), list(ContextSet).index(context_set)
