"""Claim the analyses of fits and store what they find, once."""

import datetime as dt
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F

from access.nudges import Work, is_lost, nudge
from completions.runs.services.exclusive import AWAY, MOST_BEGUN, PATIENCE, alone, take_over
from ranking.choices import FitState
from ranking.findings import AnalysisRefusedError
from ranking.fits import analysis_queries
from ranking.fits.analysis_queries import Due
from ranking.fits.queries import ANALYSED
from ranking.judgments.method import code_version
from ranking.models import Analysis, Fit

Clock = Callable[[], dt.datetime]
logger = logging.getLogger(__name__)

# Fits come through the same queue: no more than this waits before them. A claim that takes
# longer than the patience keeps no others from being begun, in case its message was lost.
MOST_UNDER_WAY = 1
BROKEN = "This analysis ended with an error of the software. It is in the log of the site."
LOST = f"This analysis was begun {MOST_BEGUN} times, and each time the process that ran it ended."


def claim_due_analyses(*, now: dt.datetime) -> list[int]:
    """Claim the next analyses that are due, or whose worker was lost, and return their keys."""
    claimed = reclaim_lost_analyses(now=now)
    running = Analysis.objects.filter(~is_lost(now=now, after=PATIENCE), state=FitState.RUNNING)
    free = max(0, MOST_UNDER_WAY - running.count())
    for due in islice(_due(now), free):
        if (analysis := _claim(due.fit, due.kind, now=now)) is not None:
            claimed.append(analysis.pk)
    return claimed


def _due(now: dt.datetime) -> Iterator[Due]:
    """Yield what is to be claimed now.

    Where web pages come from the same process, only what a reader is shown first, and what a
    person asked for or published, is computed without a pause: the rest would slow all pages down.
    """
    pause = dt.timedelta(seconds=settings.HEART_ANALYSIS_SECONDS)
    pace = dt.timedelta(seconds=settings.HEART_ANALYSIS_PACE_SECONDS)
    last = analysis_queries.newest_claim() if pace else None
    is_resting = last is not None and now - last < pace
    for due in analysis_queries.missing_analyses(now=now, pause=pause):
        is_asked_for = due.fit.is_on_request or due.fit.published_at is not None
        if due.is_first or is_asked_for or not is_resting:
            yield due


def claim_first_analysis(fit: Fit, *, now: dt.datetime) -> Analysis | None:
    """Begin the analyses of a fit ahead of its turn, unless they were; the others follow."""
    if fit.code_version != code_version() or fit.analyses.exists():
        return None
    first = next(iter(analysis_queries.kinds_of(fit.study)), None)
    return None if first is None else _claim(fit, first, now=now)


@transaction.atomic
def reclaim_lost_analyses(*, now: dt.datetime) -> list[int]:
    """Take over claims that nobody works on any more, and return their keys."""
    return take_over(Analysis.objects.filter(state=FitState.RUNNING), _work, now=now)


def forget_analysis_claims() -> int:
    """Drop the analyses that dead workers began; only for who knows that no worker lives."""
    deleted, _ = Analysis.objects.filter(state=FitState.RUNNING).delete()
    return deleted


def analyse_fit(*, fit_id: int, kind: str, clock: Clock) -> bool:
    """Compute one analysis of a fit here and now, unless somebody did or does; say whether."""
    fit = Fit.objects.filter(ANALYSED, pk=fit_id).first()
    analysis = None if fit is None else _claim(fit, kind, now=clock())
    return analysis is not None and run_analysis(analysis_id=analysis.pk, clock=clock)


def run_analysis(*, analysis_id: int, clock: Clock) -> bool:
    """Compute a claimed analysis and store its findings or its refusal; say whether this call did.

    Safe to run twice: an analysis that has ended, or that another process computes, is left
    alone. It is refused when the judgments as of its fit are no longer those of the fit. An error
    of its code is logged and stored as a refusal, so that it stops nothing else; so is one whose
    process was lost again and again.
    """
    return alone(_work(analysis_id), partial(_run, analysis_id, clock))


def _work(analysis_id: int) -> str:
    return f"computing analysis {analysis_id}"


def _run(analysis_id: int, clock: Clock) -> bool:
    running = Analysis.objects.filter(pk=analysis_id, state=FitState.RUNNING)
    analysis = running.select_related("fit__study").first()
    if analysis is None:
        return False
    if analysis.begun >= MOST_BEGUN:
        return _end(analysis, {"refusal": LOST}, now=clock())
    running.update(begun=F("begun") + 1)
    return _end(analysis, _outcome(analysis), now=clock())


def _claim(fit: Fit, kind: str, *, now: dt.datetime) -> Analysis | None:
    """Claim an analysis, unless it is there: the constraint decides between two who try."""
    analysis, created = Analysis.objects.get_or_create(
        fit=fit, kind=kind, code_version=code_version(), defaults={"claimed_at": now}
    )
    return analysis if created else None


def _outcome(analysis: Analysis) -> Mapping[str, Any]:
    """Return what is to be stored: a result, or the reason why there is none."""
    from ranking.analyses import analyse  # noqa: PLC0415 (loads NumPy, see ADR-0043)
    from ranking.fits.services.inputs import (  # noqa: PLC0415 (as above)
        JudgmentsChangedError,
        inputs_of,
    )

    try:
        findings = analyse(analysis.kind, inputs_of(analysis.fit, analysis.kind))
        # Only what reads back as the same is stored; PostgreSQL takes no number that is none.
        return {"result": json.loads(json.dumps(findings.as_json(), allow_nan=False))}
    except (AnalysisRefusedError, JudgmentsChangedError) as refusal:
        return {"refusal": str(refusal)}
    except AWAY:  # says nothing of the analysis, which is begun again
        raise
    except Exception as error:
        from access.background import why_ended  # noqa: PLC0415 (loads Celery)

        logger.exception("the analysis %s of %s failed", analysis.kind, analysis.fit.key)
        return {"refusal": why_ended(error, BROKEN)}


def _end(analysis: Analysis, outcome: Mapping[str, Any], *, now: dt.datetime) -> bool:
    """Store how it ended, unless somebody else did."""
    state = FitState.REFUSED if "refusal" in outcome else FitState.DONE
    running = Analysis.objects.filter(pk=analysis.pk, state=FitState.RUNNING)
    has_ended = running.update(state=state, ended_at=now, **outcome) == 1
    if has_ended:  # the next may begin, some only when this one's pace allows it
        for within_s in {0.0, settings.HEART_ANALYSIS_PACE_SECONDS}:
            nudge(Work.ANALYSE, within_s=within_s)
    return has_ended
