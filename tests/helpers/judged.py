"""Whole studies with judgments of people and of models, and raters who lease and skip."""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import combinations
from typing import Any

from annotation.choices import Protocol, ReportKind, Side
from annotation.judging.services import judging, leasing
from annotation.models import (
    Comparison,
    DimensionMark,
    Judge,
    JudgeCall,
    Judgment,
    Lease,
    Rater,
    Report,
    Study,
)
from annotation.quality.services import reporting
from annotation.studies.verdicts import Answer
from completions.choices import CallState, SystemKind
from completions.leases.timed import atomic_despite_deadlocks
from completions.models import Completion, Context, System
from ranking.choices import ContextSet, EvaluatorPool
from ranking.fits import queries, services
from ranking.models import Fit
from tests.helpers.factories import (
    HOUR,
    NOW,
    RUBRIC,
    make_comparison,
    make_completion,
    make_context,
    make_judge,
    make_judgment,
    make_lease,
    make_llm_judgment,
    make_rater,
    make_study,
    make_system,
    make_writer,
)
from tests.helpers.factories_of_people import human_system

Verdict = Callable[[int, int, int], int]


def by_place(dialogue: int, first: int, second: int) -> int:
    """Prefer the earlier system slightly, but the later one in every third dialogue."""
    return -1 if (dialogue + first + second) % 3 == 0 else 1


def make_judged_study(
    *,
    systems: Sequence[System] | None = None,
    n_dialogues: int = 4,
    verdict: Verdict = by_place,
    with_llm: bool = False,
    study: Study | None = None,
) -> Study:
    """Let one rater, and one judge if wanted, judge all pairs of systems in each dialogue."""
    study = study or make_study()
    systems = systems or [make_system() for _ in range(3)]
    rater, judge = make_rater(study=study), make_judge() if with_llm else None
    for dialogue in range(n_dialogues):
        context = make_context(dataset=study.dataset)
        judge_all_pairs(study, context, systems, partial(verdict, dialogue), rater, judge)
    return study


def fit_one(study: Study, at: dt.datetime, pool: EvaluatorPool = EvaluatorPool.COMBINED) -> Fit:
    """Compute the ratings of one pool in all contexts; a refit takes four times as long."""
    every = ContextSet.ALL
    fit = services.claim_fit(study=study, pool=pool, context_set=every, now=at)
    if fit is not None:
        services.run_fit(fit_id=fit.pk, clock=lambda: at)
    return Fit.objects.filter(study=study, pool=pool, context_set=every).latest("as_of")


def newest_fit(study: Study, pool: EvaluatorPool = EvaluatorPool.COMBINED) -> Fit:
    """Return the newest fit that ended."""
    fit = queries.latest_fit(study=study, pool=pool, context_set=ContextSet.ALL)
    assert fit is not None
    return fit


def judge_all_pairs(
    study: Study,
    context: Context,
    systems: Sequence[System],
    verdict: Callable[[int, int], int],
    rater: Rater,
    judge: Judge | None = None,
) -> None:
    """Judge every pair of the systems' completions of one context."""
    completions = [make_completion(context=context, system=system) for system in systems]
    for i, j in combinations(range(len(systems)), 2):
        comparison = make_comparison(study=study, first=completions[i], second=completions[j])
        make_judgment(comparison=comparison, rater=rater, verdict=verdict(i, j))
        if judge:
            make_marked_judgment(comparison, judge, verdict(i, j) or 1)


def make_marked_judgment(comparison: Comparison, judge: Judge, verdict: int) -> None:
    """A judge's verdict with a mark on two dimensions: one for the winner, one for neither."""
    judgment = make_llm_judgment(comparison=comparison, judge=judge, verdict=verdict)
    for dimension, advantage in (("H", verdict), ("E", 0)):
        DimensionMark.objects.create(judgment=judgment, dimension=dimension, advantage=advantage)


Said = tuple[str, int]
"""Where the first completion stood, and the verdict in the canonical frame."""
DONE = {"state": CallState.DONE, "ended_at": NOW, "raw_answer": "{}"}


def judge_calls(
    comparison: Comparison, judge: Judge, said: Iterable[Said | str], **fields: Any
) -> list[JudgeCall]:
    """Put a comparison to a judge; each answer is "A+3": the first's side and the verdict.

    "B?" is a call with that side that has no answer; ``fields`` say how it stands.
    """
    calls = []
    for sample, one in enumerate(said):
        side, rest = str(one)[0], str(one)[1:]
        call = JudgeCall.objects.create(
            comparison=comparison,
            judge=judge,
            first_side=Side(side),
            sample=sample,
            judge_family=judge.family,
            created_at=NOW,
            **(fields if rest == "?" else DONE),
        )
        if rest != "?":
            judgment_of(call, int(rest)).save()
        calls.append(call)
    return calls


def judgment_of(call: JudgeCall, verdict: int) -> Judgment:
    """The judgment that an answered call became, not stored yet."""
    return Judgment(
        comparison_id=call.comparison_id,
        judge_id=call.judge_id,
        judge_call=call,
        protocol=Protocol.RUBRIC,
        verdict=verdict,
        first_side=call.first_side,
        rationale="It names the feeling.",
        shown_at=NOW,
        submitted_at=NOW + dt.timedelta(seconds=3),
        protocol_hash="0" * 64,
    )


def delete_text(pk: int) -> None:
    """Leave of a completion what is left when a person had its text deleted."""
    person = {"writer": make_writer(), "system": make_system(kind=SystemKind.HUMAN)}
    Completion.objects.filter(pk=pk).update(text="", erased_at=NOW, fixed_at=NOW, **person)


def better_first(rater: int, context: int, text: int) -> int:
    """Prefer the first text much to any system, and the others to it as often as not."""
    return 2 if text == 0 else (-1) ** (rater + context + text)


def make_study_of_people(
    verdict: Verdict = better_first,
    *,
    n_contexts: int = 4,
    n_texts: int = 2,
    n_raters: int = 4,
    of_people: Sequence[System] = (),
    models: Sequence[System] = (),
) -> Study:
    """Hold every text against two models, and these against each other, all judged by all.

    The texts of a context go to the systems ``of_people`` in turn, or all to the common one.
    """
    study = make_study()
    raters = [make_rater(study=study) for _ in range(n_raters)]
    of_people = of_people or [human_system()]
    models = models or [make_system(), make_system()]
    for number in range(n_contexts):
        context = make_context(dataset=study.dataset)
        texts = [
            make_completion(
                context=context,
                system=of_people[index % len(of_people)],
                writer=make_writer(dataset=study.dataset),
            )
            for index in range(n_texts)
        ]
        rivals = [make_completion(context=context, system=system) for system in models]
        for index, text in enumerate(texts):
            for rival in rivals:
                answers = [verdict(rater, number, index) for rater in range(n_raters)]
                _judge(study, text, rival, raters, answers)
        for first, second in combinations(rivals, 2):
            _judge(study, first, second, raters, [(-1) ** number] * n_raters)
    return study


def make_system_of_one(**fields: object) -> System:
    """A supporter's own system."""
    return make_system(kind=SystemKind.HUMAN, writer=make_writer(), **fields)


def _judge(
    study: Study,
    text: Completion,
    rival: Completion,
    raters: Sequence[Rater],
    answers: Sequence[int],
) -> None:
    first, second = sorted((text, rival), key=lambda one: one.pk)
    comparison = make_comparison(study=study, first=first, second=second)
    sign = 1 if first == text else -1
    for rater, answer in zip(raters, answers, strict=True):
        make_judgment(comparison=comparison, rater=rater, verdict=sign * answer)


SECOND = dt.timedelta(seconds=1)
ANSWER = Answer(1, "It names the loss.")


def lease_next(rater: Rater, now: dt.datetime = NOW) -> Any:
    return leasing.lease_next_comparison(rater=rater, now=now)


@atomic_despite_deadlocks
def submit(
    lease: Lease,
    answer: Answer = ANSWER,
    *,
    now: dt.datetime = NOW + 40 * SECOND,
    hidden_ms: int = 0,
    rater: Rater | None = None,
) -> Judgment:
    answered = judging.lock_to_answer(credential_of(rater or lease.rater), lease.token)
    submission = judging.Submission(lease.token, answer, hidden_ms)
    return judging.record_answer(answered, submission, now=now)


def credential_of(rater: Rater) -> judging.RaterCredential:
    return judging.RaterCredential(rater.study.slug, rater.code, rater.link_version)


def skip(lease: Lease, reason: str = "upsetting", now: dt.datetime = NOW) -> None:
    leasing.skip_comparison(token=lease.token, rater=lease.rater, reason=reason, now=now)


def judge_all(rater: Rater) -> list[Comparison]:
    """Answer whatever there is, and return the comparisons in the order they came."""
    seen = []
    while (lease := lease_next(rater)) is not None:
        seen.append(lease.comparison)
        submit(lease, now=NOW)
    return seen


def make_comparisons(study: Study, n: int) -> list[Comparison]:
    """Make comparisons of as many contexts, in the study's order."""
    return [make_comparison(study=study, position=place) for place in range(n)]


def make_open_lease(
    *,
    protocol: str = Protocol.PREFERENCE,
    first_side: str = Side.A,
    slots_left: int = 4,
    **fields: Any,
) -> Lease:
    """Lease a slot as the service does: the counters of the comparison agree with it."""
    study = make_study(protocol=protocol, **fields)
    comparison = make_comparison(
        study=study,
        slots_left=slots_left,
        shown_first_as_a=int(first_side == Side.A),
        shown_first_as_b=int(first_side == Side.B),
    )
    return make_lease(comparison=comparison, first_side=first_side)


def make_expired_lease(*, slots_left: int = 4, first_side: str = Side.A) -> Lease:
    """Lease a slot that is then given back; others left ``slots_left`` of them meanwhile."""
    lease = make_open_lease(first_side=first_side)
    leasing.release_expired_leases(now=NOW + HOUR)
    lease.comparison.slots_left = slots_left
    lease.comparison.save(update_fields=["slots_left"])
    return lease


CONTENT: dict[str, Any] = {
    "rubric": RUBRIC,
    "checks": {"rate": 0, "repeat_rate": 0, "gold_set": "heart-1"},
    "screening": {"pairs": 0, "min_passed": 0},
    "comprehension": [],
    "break_every": 20,
    "reports_to_hold": 2,
    "crowd": {"platform": "any"},
}


def make_planted_study(*, checks: dict[str, Any] | None = None, **fields: Any) -> Study:
    """Make a study whose file names a gold set; load_gold plants it."""
    content = make_study_content(checks=checks or {})
    return make_study(**{"content": content} | fields)


def make_study_content(*, checks: dict[str, Any], **parts: Any) -> dict[str, Any]:
    return CONTENT | {"checks": CONTENT["checks"] | checks} | parts


def make_rated_alone(study: Study | None = None) -> Comparison:
    """Make the comparison of a likert study: one completion."""
    study = study or make_planted_study(protocol=Protocol.LIKERT)
    pair = make_comparison(study=study)
    alone = make_completion(context=pair.context)
    return Comparison.objects.create(
        study=study, context=pair.context, first=alone, key="alone", position=0, slots_left=5
    )


def report(lease: Lease, kind: ReportKind = ReportKind.CONTENT, text: str = "", now=NOW) -> Report:
    return reporting.report_context(
        token=lease.token, rater=lease.rater, kind=kind, text=text, now=now
    )
