"""Reads of fits as computations: which are under way, how they ended, what they took."""

import datetime as dt
from collections import defaultdict
from typing import Any

from django.db.models import Max, OuterRef, QuerySet, Subquery
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.choices import Protocol
from annotation.models import Study
from annotation.overview.progress import Alert
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.fits.analysis_queries import ANALYSED, analyses_of_fits
from ranking.fits.selectors import PREFERRED, PUBLIC
from ranking.judgments.orders import OtherOrder
from ranking.models import Analysis, Fit, Rating

CLAIM_LENGTH = dt.timedelta(minutes=2)  # of a fit; after that its worker counts as lost
SHOWN = 30


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
    return sorted(newest.filter(ANALYSED).select_related("study"), key=_place)


def orders_beside(fit: Fit) -> tuple[OtherOrder, ...]:
    """Return the newest ratings of other studies of pairs on the same dialogues, by their title.

    Of each study those of the same pool if there are any, else of the most telling; on the same
    contexts, and simulated studies beside simulated ones only. What goes into an analysis of this
    study is read when this one is closed, so of others only what is public. Two queries.
    """
    others = Study.objects.filter(dataset=fit.study.dataset_id, is_simulated=fit.study.is_simulated)
    pairs = others.exclude(protocol=Protocol.LIKERT).exclude(pk=fit.study_id)
    done = Fit.objects.filter(
        PUBLIC, study__in=pairs, context_set=fit.context_set, state=FitState.DONE
    )
    newest = done.order_by().values("study", "pool").annotate(newest=Max("pk")).values("newest")
    found = Fit.objects.filter(pk__in=newest).select_related("study")
    chosen = {
        one.study_id: one
        for one in sorted(found, key=lambda one: (one.pool == fit.pool, -_place(one)[0]))
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
    return sorted(_newest(Fit.objects.filter(study=study)), key=_place)


def analysed_last(study: Study) -> list[dict[str, Any]]:
    """Return the fits analysed last, each with its analyses and how many of them found something.

    Two queries.
    """
    looked_into = Analysis.objects.filter(fit__study=study).order_by()
    last = looked_into.values("fit__pool", "fit__context_set").annotate(last=Max("fit"))
    fits = sorted(Fit.objects.filter(study=study, pk__in=last.values("last")), key=_place)
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


def _newest(fits: QuerySet[Fit]) -> QuerySet[Fit]:
    """Return the fit claimed last for each pool and context set."""
    groups = fits.order_by().values("pool", "context_set").annotate(newest=Max("pk"))
    return Fit.objects.filter(pk__in=groups.values("newest"))


def _place(fit: Fit) -> tuple[int, int]:
    pool, context_set = EvaluatorPool(fit.pool), ContextSet(fit.context_set)
    return PREFERRED.index(pool), list(ContextSet).index(context_set)
