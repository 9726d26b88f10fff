"""Let the public read a fit of a study that goes on, and keep it to the team again."""

import datetime as dt

from django.contrib.auth.models import User
from django.db import transaction

from access.log import record
from access.nudges import Work, nudge
from ranking.fits.queries import ENDED
from ranking.models import Fit


@transaction.atomic
def publish_fit(*, fit: Fit, now: dt.datetime, by: User | None = None) -> bool:
    """Let everybody read an ended fit, with its analyses; say whether they could not before.

    It is fixed: what is judged later changes nothing of it. The log keeps who did it and whether
    people were still judging.
    """
    waiting = Fit.objects.filter(pk=fit.pk, state__in=ENDED, published_at__isnull=True)
    if not waiting.update(published_at=now):
        return False
    _log("fit.published", fit, now=now, by=by)
    nudge(Work.ANALYSE)
    return True


@transaction.atomic
def unpublish_fit(*, fit: Fit, now: dt.datetime, by: User) -> bool:
    """Keep a published fit to the team again; say whether it was published.

    Whoever read it has read it.
    """
    public = Fit.objects.filter(pk=fit.pk, published_at__isnull=False)
    if not public.update(published_at=None):
        return False
    _log("fit.unpublished", fit, now=now, by=by)
    return True


def _log(action: str, fit: Fit, *, now: dt.datetime, by: User | None) -> None:
    after = {"study_state": fit.study.state, "n_judgments": fit.n_judgments}
    record(
        action=action,
        subject=f"fit {fit.key} of study {fit.study.slug}",
        now=now,
        by=by,
        after=after,
    )
