"""Runs of LLM judges: which calls are missing, what they would come to, and starting one."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction

from annotation.assignment import design
from annotation.choices import Purpose, Side
from annotation.judges.services.judging import request_for
from annotation.models import Comparison, Judge, JudgeCall, JudgeRun, Study
from annotation.studies import queries as study_queries
from completions.generation import planning
from completions.generation.planning import RunDraft
from completions.runs.services import running
from completions.runs.services.calling import TRIES


class StudyNotLockedError(Exception):
    """Judging needs a protocol that can no longer change."""


class AskingError(ValueError):
    """Judges cannot be asked so often or so freely, or no more since the study is closed."""


MOST_SAMPLES, HIGHEST_TEMPERATURE = 100, 2


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
    AskingError
        If several samples are wanted at no temperature above 0, there are no such numbers, or the
        study is closed.
    StudyNotLockedError, UnknownPriceError, BudgetTooSmallError
        If the protocol can still change, a budget cannot be kept, or it is nothing.
    NothingToAskError
        If every call was planned before; no run is added then.
    """
    _check(asking)
    run = JudgeRun.objects.create(
        study=study,
        both_orders=asking.both_orders,
        samples=asking.samples,
        plan=_plan_of(study, judges, asking),
        budget_usd=running.checked_budget(budget_usd, judges),
        created_at=now,
        created_by=by,
    )
    n_added = plan_judge_calls(study=study, judges=judges, now=now, run=run, asking=asking)
    return running.begin(run, n_added, now=now, by=by)


def _check(asking: Asking) -> None:
    if asking.samples > MOST_SAMPLES:
        msg = f"{MOST_SAMPLES} samples of each order are the most"
        raise AskingError(msg)
    if not 0 <= (asking.temperature or 0) <= HIGHEST_TEMPERATURE:
        msg = f"a temperature is from 0 to {HIGHEST_TEMPERATURE}"
        raise AskingError(msg)
    if asking.samples > 1 and not asking.temperature:
        msg = "several samples need a temperature above 0: at 0 they would be copies of one"
        raise AskingError(msg)


def _plan_of(study: Study, judges: Collection[Judge], asking: Asking) -> dict[str, Any]:
    plan = {
        "study": study.slug,
        "judges": sorted(judge.slug for judge in judges),
        "both_orders": asking.both_orders,
        "samples": asking.samples,
    }
    return plan if asking.temperature is None else plan | {"temperature": asking.temperature}


def draft_judge_run(
    *, study: Study, judges: Collection[Judge], asking: Asking, now: dt.datetime
) -> RunDraft:
    """Return what putting the study's comparisons to these judges would come to."""
    pairs = _sample(study)
    return planning.draft(
        count_wanted_judge_calls(study=study, judges=judges, asking=asking),
        lambda judge: [request_for(_drafted(pair, judge, now)) for pair in pairs],
        JudgeCall.objects.all(),
        tries=TRIES,
    )


def _sample(study: Study) -> list[Comparison]:
    """Return some of the comparisons that judges are asked about."""
    pairs = Comparison.objects.filter(study_queries.INTACT, study=study, purpose=Purpose.MAIN)
    return planning.evenly(pairs.select_related("study", "context", "first", "second"))


def _drafted(pair: Comparison, judge: Judge, now: dt.datetime) -> JudgeCall:
    return JudgeCall(comparison=pair, judge=judge, first_side=Side.A, created_at=now)


@transaction.atomic
def plan_judge_calls(
    *,
    study: Study,
    judges: Collection[Judge],
    now: dt.datetime,
    run: JudgeRun | None = None,
    asking: Asking = Asking(),
) -> int:
    """Add the calls that comparisons and judges lack; return how many were added.

    In both orders a judge is asked twice about a comparison, the completions exchanged; else in
    one order, which chance draws; a completion that is rated alone has one. Each order is asked
    for every sample: at temperature 0 that gives copies, so such a run names a temperature in its
    plan. A judge is never asked about a completion of its own family, nor about one whose text
    was deleted.

    Planning again adds nothing; judges that come later, a second order and more samples extend
    the plan, and what is there stays. Drawn sides are balanced within a comparison first, then
    within a judge; further samples stay in the order that was drawn.

    Raises
    ------
    StudyNotLockedError, AskingError
        If the study's protocol is not locked yet, or the study is closed.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)  # one planner at a time
    if study.locked_at is None:
        raise StudyNotLockedError
    calls = [_call(one, now=now, run=run) for one in _wanted_calls(study, judges, asking)]
    if calls and study.is_closed:
        msg = "the study is closed: its judges are asked nothing more"
        raise AskingError(msg)
    return len(JudgeCall.objects.bulk_create(calls, batch_size=500))


def count_wanted_judge_calls(
    *, study: Study, judges: Collection[Judge], asking: Asking
) -> dict[Judge, int]:
    """Return how many calls planning would add for each judge; nothing is written."""
    counts = Counter(one.judge for one in _wanted_calls(study, judges, asking))
    return {judge: counts[judge] for judge in judges}


class _Pair(NamedTuple):
    """What a plan needs of a comparison; a study has thousands."""

    pk: int
    key: str
    first_family: str
    second_family: str | None
    """None if the first completion is rated alone."""


class _CallPlan(NamedTuple):
    """A call that is missing."""

    pair: _Pair
    judge: Judge
    side: Side
    sample: int


@dataclass(frozen=True)
class _Sides:
    """Which calls there are, and how often each comparison and judge had the first one as A."""

    asked: dict[tuple[int, int], dict[Side, set[int]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    """For a comparison and a judge: the sides drawn, the first drawn first, and their samples."""
    shown: Counter[tuple[str, int, Side]] = field(default_factory=Counter)

    def add(self, comparison: int, judge: int, side: Side, sample: int) -> None:
        """Count a call; samples of one order count once."""
        samples = self.asked[comparison, judge].setdefault(side, set())
        if not samples:
            self.shown["comparison", comparison, side] += 1
            self.shown["judge", judge, side] += 1
        samples.add(sample)

    def tally(self, kind: str, key: int) -> tuple[int, int]:
        """Return how often the first completion was A, and how often B."""
        return self.shown[kind, key, Side.A], self.shown[kind, key, Side.B]


def _wanted_calls(study: Study, judges: Collection[Judge], asking: Asking) -> Iterator[_CallPlan]:
    """Yield the missing calls, with the sides drawn so far carried along."""
    drawn = _Sides()
    rows = JudgeCall.objects.filter(comparison__study=study).order_by("pk")
    for comparison, judge, side, sample in rows.values_list(
        "comparison_id", "judge_id", "first_side", "sample"
    ):
        drawn.add(comparison, judge, Side(side), sample)
    for pair, evaluator in _allowed(study, judges):
        for side in _sides(study, asking, drawn, pair, evaluator):
            had = drawn.asked[pair.pk, evaluator.pk].get(side, set()).copy()
            for sample in sorted(set(range(asking.samples)) - had):
                drawn.add(pair.pk, evaluator.pk, side, sample)
                yield _CallPlan(pair, evaluator, side, sample)


def _sides(
    study: Study, asking: Asking, drawn: _Sides, pair: _Pair, judge: Judge
) -> tuple[Side, ...]:
    """Return the sides on which the first completion is wanted, the drawn one first."""
    if pair.second_family is None:
        return (Side.A,)
    earlier = drawn.asked.get((pair.pk, judge.pk))
    side = next(iter(earlier)) if earlier else _draw(study, drawn, pair, judge)
    return (side, Side.B if side == Side.A else Side.A) if asking.both_orders else (side,)


def _draw(study: Study, drawn: _Sides, pair: _Pair, judge: Judge) -> Side:
    first_is_a = design.first_goes_to_a(
        seed=study.seed,
        pair=pair.key,
        shown=drawn.tally("comparison", pair.pk),
        rater_shown=drawn.tally("judge", judge.pk),
    )
    return Side.A if first_is_a else Side.B


def _allowed(study: Study, judges: Collection[Judge]) -> Iterator[tuple[_Pair, Judge]]:
    """Yield the comparisons with the judges that made neither completion's system."""
    comparisons = study.comparisons.filter(study_queries.INTACT, purpose=Purpose.MAIN).order_by(
        "position", "pk"
    )
    rows = comparisons.values_list("pk", "key", "first__system__family", "second__system__family")
    ranked = sorted(judges, key=lambda judge: judge.slug)
    for pair in map(_Pair._make, rows):
        families = {pair.first_family, pair.second_family}
        yield from ((pair, judge) for judge in ranked if judge.family not in families)


def _call(plan: _CallPlan, *, now: dt.datetime, run: JudgeRun | None) -> JudgeCall:
    return JudgeCall(
        run=run,
        comparison_id=plan.pair.pk,
        judge=plan.judge,
        first_side=plan.side,
        sample=plan.sample,
        judge_family=plan.judge.family,
        first_family=plan.pair.first_family,
        second_family=plan.pair.second_family or "",
        created_at=now,
    )
