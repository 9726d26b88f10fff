"""Reads of fits as computations: which are under way, how they ended, what they took."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Max, OuterRef, QuerySet, Subquery
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.choices import Protocol
from annotation.models import Study
from annotation.overview.progress import Alert
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.fits.analysis_queries import ANALYSED, AnalysisRow, analyses_of_fits
from ranking.fits.selectors import PREFERRED, PUBLIC
from ranking.judgments.code import code_version
from ranking.judgments.orders import OtherOrder
from ranking.models import Analysis, Fit, Rating

CLAIM_LENGTH = dt.timedelta(minutes=2)  # of a fit; after that its worker counts as lost
SHOWN = 30


@dataclass(frozen=True)
class FitRow:
    """One fit as a list of computations shows it; ``took`` is how long, ``age`` since its time."""

    key: str
    pool: str
    context_set: str
    state: FitState
    state_label: str
    n_judgments: int
    as_of: dt.datetime
    age: dt.timedelta
    took: dt.timedelta | None
    refusal: str
    is_simulated: bool
    is_by_present_code: bool
    is_published: bool
    analyses: tuple[AnalysisRow, ...] = ()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.state == FitState.RUNNING

    @property
    def n_analyses_done(self) -> int:
        """How many of its analyses found something."""
        return sum(one.state == FitState.DONE for one in self.analyses)


@dataclass(frozen=True)
class FitsPage:
    """The newest fit of each pool and context set, those analysed last, and earlier ones."""

    newest: tuple[FitRow, ...]
    analysed: tuple[FitRow, ...]
    recent: tuple[FitRow, ...]
    n_fits: int
    n_under_way: int

    @property
    def is_simulated(self) -> bool:
        """Whether any of the newest rests on something simulated."""
        return any(row.is_simulated for row in self.newest)


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


def fits_of(study: Study, *, now: dt.datetime, most: int = SHOWN) -> tuple[FitRow, ...]:
    """Return the fits of a study in whatever state, the newest first."""
    fits = Fit.objects.filter(study=study).order_by("-as_of", "-pk")
    return tuple(_row(fit, now) for fit in fits[:most])


def fit_row(study: Study, key: str, *, now: dt.datetime) -> FitRow | None:
    """Return one fit of the study with its analyses, or None."""
    fit = Fit.objects.filter(study=study, key=key).first()
    return None if fit is None else _row(fit, now, analyses_of_fits([fit.pk]))


def fits_page(study: Study, *, now: dt.datetime) -> FitsPage:
    """Return what the page of a study's computations shows, in six queries."""
    fits = Fit.objects.filter(study=study)
    newest = sorted(_newest(fits), key=_place)
    looked_into = Analysis.objects.filter(fit__study=study).order_by()
    last = looked_into.values("fit__pool", "fit__context_set").annotate(last=Max("fit"))
    analysed = sorted(fits.filter(pk__in=last.values("last")), key=_place)
    found = analyses_of_fits([fit.pk for fit in analysed])
    return FitsPage(
        newest=tuple(_row(fit, now) for fit in newest),
        analysed=tuple(_row(fit, now, found) for fit in analysed),
        recent=fits_of(study, now=now),
        n_fits=fits.count(),
        n_under_way=n_under_way(study, now=now),
    )


def _newest(fits: QuerySet[Fit]) -> QuerySet[Fit]:
    """Return the fit claimed last for each pool and context set."""
    groups = fits.order_by().values("pool", "context_set").annotate(newest=Max("pk"))
    return Fit.objects.filter(pk__in=groups.values("newest"))


def _place(fit: Fit) -> tuple[int, int]:
    pool, context_set = EvaluatorPool(fit.pool), ContextSet(fit.context_set)
    return PREFERRED.index(pool), list(ContextSet).index(context_set)


def _row(
    fit: Fit, now: dt.datetime, analyses: Mapping[int, tuple[AnalysisRow, ...]] | None = None
) -> FitRow:
    state = FitState(fit.state)
    return FitRow(
        key=fit.key,
        pool=EvaluatorPool(fit.pool).label,
        context_set=ContextSet(fit.context_set).label,
        state=state,
        state_label=state.label,
        n_judgments=fit.n_judgments,
        as_of=fit.as_of,
        age=max(now - fit.as_of, dt.timedelta()),
        took=None if fit.ended_at is None else fit.ended_at - fit.claimed_at,
        refusal=fit.refusal,
        is_simulated=fit.is_simulated,
        is_by_present_code=fit.code_version == code_version(),
        is_published=fit.published_at is not None,
        analyses=(analyses or {}).get(fit.pk, ()),
    )
