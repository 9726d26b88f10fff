"""Put comparisons to LLM judges and turn their valid answers into judgments."""

import datetime as dt
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from pydantic import TypeAdapter

from annotation import judge_answers, judge_prompt, verdicts
from annotation.choices import Protocol, Side, StudyState
from annotation.models import Comparison, DimensionMark, JudgeCall, Judgment
from annotation.rubric import Rubric
from completions import llm, pulling
from completions.choices import CallState
from completions.normaliser import plain
from completions.services import calling
from completions.services.calling import Claim, Clock, Failed, Question

MAX_TOKENS = 2000
TIMEOUT_S = 180.0
_TURN = threading.Lock()
_RUBRIC = TypeAdapter(Rubric)


@dataclass(frozen=True)
class JudgeQuestion(Question):
    """A claimed judge call: what is asked, and how to read the answer."""

    dimensions: tuple[str, ...]


@dataclass(frozen=True)
class Judged:
    """What a judge said: an answer in the frame of the screen, or a fault found twice."""

    question: JudgeQuestion
    at: dt.datetime
    reply: llm.Reply
    answer: verdicts.Answer | None
    first_try: dict[str, str]
    """An unusable first answer and its fault, if there was one."""
    fault: str = ""


def is_judging_waiting(*, now: dt.datetime) -> bool:
    """Say whether a worker would find a judge to ask."""
    return calling.claimable(_calls_of_open_studies(), now=now).exists()


def forget_judging_claims() -> int:
    """Free the calls that dead workers held; only for who knows that no worker lives."""
    return calling.forget_claims(JudgeCall.objects.all())


def ask_judges(*, clock: Clock, duration_s: float = 30.0) -> int:
    """Make the waiting judge calls, several at a time, and return how many ended.

    An answer that cannot be read is asked for once more, with the fault; a second one is kept
    as invalid and is never a vote. Safe to run twice and in many processes.
    """
    limits = pulling.Limits(concurrency=settings.HEART_LLM_CONCURRENCY, duration_s=duration_s)

    async def ask(question: JudgeQuestion) -> Judged | Failed:
        try:
            return await _ask_judge(question, clock)
        except llm.ProviderError as error:
            return Failed(question.claim, clock(), error, question)

    return pulling.pull_here(_Queue(clock), ask, limits=limits, turn=_TURN)


@dataclass(frozen=True)
class _Queue:
    """The table of judge calls, as a pull sees it."""

    clock: Clock

    def claim(self, limit: int) -> pulling.Claimed[JudgeQuestion]:
        """Claim calls of open studies and load what their questions need."""
        calls, now = _calls_of_open_studies(), self.clock()
        ids = calling.claim_calls(calls, limit=limit, now=now)
        wait_s = calling.seconds_to_retry(calls, now=now)
        rows = (
            JudgeCall.objects.filter(pk__in=ids)
            .order_by("pk")
            .select_related(
                "judge",
                "comparison__study",
                "comparison__context",
                "comparison__first",
                "comparison__second",
            )
        )
        return pulling.Claimed(calling.prepare(calls, rows, _question, now), wait_s)

    def store(self, results: Sequence[Judged | Failed]) -> None:
        """Keep judgments, invalid answers and failures."""
        _store_answers([result for result in results if isinstance(result, Judged)])
        for result in results:
            if isinstance(result, Failed):
                calling.store_failure(JudgeCall.objects.all(), result)

    def release(self, items: Sequence[JudgeQuestion]) -> None:
        """Give unused claims back."""
        calling.release_calls(JudgeCall.objects.all(), (item.claim for item in items))


def _calls_of_open_studies() -> QuerySet[JudgeCall]:
    return JudgeCall.objects.filter(comparison__study__state=StudyState.OPEN)


def _question(call: JudgeCall, claim: Claim) -> JudgeQuestion:
    comparison = call.comparison
    rubric = _RUBRIC.validate_python(comparison.study.content["rubric"])
    texts = (plain(comparison.first.text), plain(comparison.second.text))
    a, b = texts if call.first_side == Side.A else reversed(texts)
    request = calling.request_to(
        call.judge,
        messages=judge_prompt.judge_messages(rubric, _plain_turns(comparison), a=a, b=b),
        response_schema=judge_answers.answer_schema(rubric.keys),
        max_tokens=MAX_TOKENS,
        timeout_s=TIMEOUT_S,
    )
    return JudgeQuestion(claim, judge_prompt.prompt_hash(rubric), request, rubric.keys)


def _plain_turns(comparison: Comparison) -> list[dict[str, str]]:
    """Return the dialogue in the dress in which raters see it."""
    return [
        {"role": turn["role"], "text": plain(turn["text"])} for turn in comparison.context.turns
    ]


async def _ask_judge(question: JudgeQuestion, clock: Clock) -> Judged:
    """Ask once, and once more if the answer cannot be read."""
    reply = await llm.complete(question.request)
    answer, fault = _read(reply, question)
    if answer is not None:
        return Judged(question, clock(), reply, answer, {})
    first_try = {"answer": reply.text, "fault": fault}
    correction = judge_prompt.correction_messages(reply.text, fault)
    messages = (*question.request.messages, *correction)
    again = await llm.complete(replace(question.request, messages=messages))
    answer, fault = _read(again, question)
    return Judged(question, clock(), _summed(reply, again), answer, first_try, fault)


def _read(reply: llm.Reply, question: JudgeQuestion) -> tuple[verdicts.Answer | None, str]:
    """Return the answer, or None and what is wrong with it."""
    try:
        return judge_answers.read_judge_answer(reply.text, question.dimensions), ""
    except judge_answers.InvalidJudgeAnswerError as error:
        return None, str(error)


def _summed(first: llm.Reply, second: llm.Reply) -> llm.Reply:
    """Return the second reply with what both together took."""

    def total(*counts: Any) -> Any:  # noqa: ANN401 (int or float, as given)
        return None if None in counts else sum(counts)

    return replace(
        second,
        n_prompt_tokens=total(first.n_prompt_tokens, second.n_prompt_tokens),
        n_completion_tokens=total(first.n_completion_tokens, second.n_completion_tokens),
        cost_usd=total(first.cost_usd, second.cost_usd),
        latency_ms=first.latency_ms + second.latency_ms,
    )


@transaction.atomic
def _store_answers(answers: Sequence[Judged]) -> None:
    """Keep each answer once; a call that has ended meanwhile keeps what it has."""
    ids = [judged.question.claim.call_id for judged in answers]
    open_calls = JudgeCall.objects.filter(pk__in=ids, ended_at=None).order_by("pk")
    held = {
        call.pk: call
        for call in open_calls.select_for_update(of=("self",)).select_related("comparison__study")
    }
    for judged in answers:
        if (call := held.get(judged.question.claim.call_id)) is not None:
            _store_answer(call, judged)


def _store_answer(call: JudgeCall, judged: Judged) -> None:
    """End the call; a valid answer becomes a judgment, an invalid one never does."""
    fields = calling.reply_fields(judged.question, judged.reply)
    fields["asked"] |= {"first_try": judged.first_try} if judged.first_try else {}
    state = CallState.DONE
    if judged.answer is None:
        state = CallState.INVALID
        fields |= {"error_kind": "invalid_answer", "error_detail": calling.storable(judged.fault)}
    JudgeCall.objects.filter(pk=call.pk).update(state=state, ended_at=judged.at, **fields)
    if judged.answer is not None:
        _store_judgment(call, judged, judged.answer)


def _store_judgment(call: JudgeCall, judged: Judged, answer: verdicts.Answer) -> None:
    canonical = verdicts.swap_frame(answer, first_is_a=call.first_side == Side.A)
    judgment = Judgment.objects.create(
        comparison=call.comparison,
        judge_id=call.judge_id,
        judge_call=call,
        protocol=Protocol.RUBRIC,
        verdict=canonical.verdict,
        first_side=call.first_side,
        rationale=canonical.rationale,
        shown_at=min(judged.question.claim.at, judged.at),
        submitted_at=judged.at,
        protocol_hash=call.comparison.study.protocol_hash,
    )
    DimensionMark.objects.bulk_create(
        DimensionMark(judgment=judgment, dimension=key, advantage=advantage)
        for key, advantage in sorted(canonical.marks.items())
    )
