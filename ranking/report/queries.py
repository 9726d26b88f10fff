"""Reads of what stands around a leaderboard: names, analyses and other fits."""

from django.db.models import Count, Q, QuerySet

from annotation.choices import Protocol
from annotation.models import Comparison, Judge, Study
from completions.models import System
from ranking.choices import AnalysisKind, FitState
from ranking.fits.selectors import ENDED
from ranking.models import Analysis, Fit
from ranking.report.rendered.values import Name, Names

EARLIER = 5


def names_in(study: Study, *, shows_people: bool) -> Names:
    """Return the names that findings of the study may hold. Two queries; three for the public."""
    rated = Q(ratings__fit__study=study)
    if study.protocol == Protocol.LIKERT:  # which has means of systems without a rating
        rated = Q(completions__in=Comparison.objects.filter(study=study).values("first"))
    systems = System.objects.filter(rated).distinct()
    people = () if shows_people else study.raters.values_list("code", flat=True)
    return Names(
        systems={one.slug: Name(one.name, one.is_simulated) for one in systems},
        judges={one.slug: Name(one.name, one.is_simulated) for one in Judge.objects.all()},
        people=frozenset(people),
        shows_people=shows_people,
    )


def analysis_states(fit: Fit) -> dict[AnalysisKind, FitState]:
    """Return which analyses of a fit there are, and where they stand, without their findings."""
    rows = Analysis.objects.filter(fit=fit).order_by("claimed_at", "pk")
    known = dict(rows.values_list("kind", "state"))
    return {kind: FitState(known[kind]) for kind in AnalysisKind if kind in known}


def newest_first(fits: QuerySet[Fit]) -> QuerySet[Fit]:
    """Return fits in the order of a list, with their count of analyses."""
    n_analyses = Count("analyses", filter=Q(analyses__state__in=ENDED))
    return fits.annotate(n_analyses=n_analyses).order_by("-as_of", "-pk")


def earlier_fits(fit: Fit, fits: QuerySet[Fit]) -> list[Fit]:
    """Return the few of the fits that came just before this one on the same pool and contexts."""
    same = fits.filter(pool=fit.pool, context_set=fit.context_set, as_of__lt=fit.as_of)
    return list(same.order_by("-as_of", "-pk")[:EARLIER])
