"""Runs of LLM judges: what one would come to, and starting one with a plan and a budget."""

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.choices import Purpose, Side
from annotation.judges.services.judging import request_for
from annotation.judges.services.planning import count_wanted_judge_calls, plan_judge_calls
from annotation.models import Comparison, Judge, JudgeCall, JudgeRun, Study
from annotation.studies import selectors
from completions.generation.services import planning
from completions.generation.services.planning import RunDraft
from completions.runs.services import running


class SamplesAlikeError(ValueError):
    """Several samples at temperature 0 are copies of one."""


@dataclass(frozen=True)
class Asking:
    """How often each judge is asked about a comparison, and how freely it answers."""

    both_orders: bool = False
    samples: int = 1
    temperature: float | None = None
    """``None``: what the judge's own parameters say, else 0."""


@transaction.atomic
def start_judge_run(
    *,
    study: Study,
    judges: Collection[Judge],
    now: dt.datetime,
    asking: Asking = Asking(),
    budget_usd: Decimal | None = None,
    by: User | None = None,
) -> JudgeRun:
    """Put the comparisons of a study to judges, as far as they were not, in a run of their own.

    Raises
    ------
    SamplesAlikeError
        If several samples are wanted at no temperature above 0.
    StudyNotLockedError, UnknownPriceError, BudgetTooSmallError
        If the protocol can still change, a budget cannot be kept, or it is nothing.
    NothingToAskError
        If every call was planned before; no run is added then.
    """
    if asking.samples > 1 and not asking.temperature:
        msg = "several samples need a temperature above 0: at 0 they would be copies of one"
        raise SamplesAlikeError(msg)
    run = JudgeRun.objects.create(
        study=study,
        both_orders=asking.both_orders,
        samples=asking.samples,
        plan=_plan(study, judges, asking),
        budget_usd=running.checked_budget(budget_usd, judges),
        created_at=now,
        created_by=by,
    )
    n_added = plan_judge_calls(
        study=study,
        judges=judges,
        now=now,
        run=run,
        both_orders=asking.both_orders,
        samples=asking.samples,
    )
    return running.begin(run, n_added, now=now, by=by)


def _plan(study: Study, judges: Collection[Judge], asking: Asking) -> dict[str, Any]:
    plan = {
        "study": study.slug,
        "judges": sorted(judge.slug for judge in judges),
        "both_orders": asking.both_orders,
        "samples": asking.samples,
    }
    return plan if asking.temperature is None else plan | {"temperature": asking.temperature}


TRIES = 2
"""An answer that cannot be read is asked for once more."""


def draft_judge_run(
    *,
    study: Study,
    judges: Collection[Judge],
    asking: Asking,
    environment: Mapping[str, str],
    now: dt.datetime,
) -> RunDraft:
    """Return what putting the study's comparisons to these judges would come to."""
    counts = count_wanted_judge_calls(
        study=study, judges=judges, both_orders=asking.both_orders, samples=asking.samples
    )
    pairs = _sample(study)
    askings = [
        planning.Asking(
            judge,
            counts[judge.slug],
            [request_for(_call(pair, judge, now)) for pair in pairs],
            tries=TRIES,
        )
        for judge in judges
    ]
    return planning.draft(askings, JudgeCall.objects.all(), environment)


def _sample(study: Study) -> list[Comparison]:
    """Return some of the comparisons that judges are asked about."""
    pairs = Comparison.objects.filter(selectors.INTACT, study=study, purpose=Purpose.MAIN)
    return planning.evenly(pairs.select_related("study", "context", "first", "second"))


def _call(pair: Comparison, judge: Judge, now: dt.datetime) -> JudgeCall:
    return JudgeCall(comparison=pair, judge=judge, first_side=Side.A, created_at=now)
