"""What a run of judges would come to, before it is started."""

import datetime as dt
from collections.abc import Collection, Mapping

from annotation.choices import Purpose, Side
from annotation.judges.services.judging import request_for
from annotation.judges.services.planning import count_wanted_judge_calls
from annotation.judges.services.running import Asking
from annotation.models import Comparison, Judge, JudgeCall, Study
from annotation.studies import selectors
from completions.generation.services import planning
from completions.generation.services.planning import RunDraft

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
    wanted = count_wanted_judge_calls(
        study=study, judges=judges, both_orders=asking.both_orders, samples=asking.samples
    )
    pairs = _sample(study)
    askings = [
        planning.Asking(
            judge,
            wanted[judge.slug],
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
