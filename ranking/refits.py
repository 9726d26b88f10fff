"""Bring the ratings of a study up to date because a person asked for it."""

import datetime as dt
from dataclasses import dataclass
from itertools import product

from django.db import transaction

from annotation.models import Study
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.fits import queries
from ranking.fits.services.claiming import claim_fit
from ranking.models import Fit
from ranking.report.services import claim_first_analysis


@dataclass(frozen=True)
class RefitClaim:
    """What was claimed: keys of fits, of analyses of fits that stand; or how many are under way."""

    fits: tuple[int, ...] = ()
    analyses: tuple[int, ...] = ()
    n_under_way: int = 0


def claim_refit(*, study_id: int, now: dt.datetime) -> RefitClaim:
    """Claim whatever ratings of the study are out of date, however little has changed.

    Nothing is claimed while a computation of the study is under way; its analyses do not wait
    either. Where the ratings are those of the present judgments already, their analyses are begun
    if they were not.
    """
    study = Study.objects.get(pk=study_id)
    if n_under_way := queries.n_under_way(study, now=now):
        Fit.objects.filter(study=study, state=FitState.RUNNING).update(is_on_request=True)
        return RefitClaim(n_under_way=n_under_way)
    newest = queries.newest_analysed(study)
    fits = _claim_fits(study, now=now)
    replaced = {(fit.pool, fit.context_set) for fit in fits}
    kept = [fit for fit in newest if (fit.pool, fit.context_set) not in replaced]
    begun = [claim_first_analysis(fit, now=now) for fit in kept]
    return RefitClaim(
        fits=tuple(fit.pk for fit in fits),
        analyses=tuple(one.pk for one in begun if one is not None),
    )


@transaction.atomic
def _claim_fits(study: Study, *, now: dt.datetime) -> list[Fit]:
    """Claim the fits, marked as asked for, so that their analyses do not wait."""
    found = (
        claim_fit(study=study, pool=pool, context_set=context_set, now=now)
        for pool, context_set in product(EvaluatorPool, ContextSet)
    )
    claimed = [fit for fit in found if fit is not None]
    keys = [fit.pk for fit in claimed]
    Fit.objects.filter(pk__in=keys, state=FitState.RUNNING).update(is_on_request=True)
    return claimed
