"""Put comparisons to LLM judges and turn their valid answers into judgments."""

from collections.abc import Collection, Sequence
from functools import lru_cache, partial
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from access.nudges import Work, nudge
from annotation.choices import Protocol, Side
from annotation.judges import prompts
from annotation.judges.prompts import probability_of_a
from annotation.models import Comparison, DimensionMark, JudgeCall, JudgeRun, Judgment
from annotation.rationales.addressing import addressed_by
from annotation.studies import queries as study_queries
from annotation.studies import verdicts
from annotation.studies.rubric import rubric_of
from annotation.studies.verdicts import Answer
from completions import llm
from completions.dialogues.normaliser import plain
from completions.runs.services import asking, calling
from completions.runs.services.asking import ModelAnswer
from completions.runs.services.calling import TRIES, Claim, Question
from completions.runs.services.quoted_labels import TextDeletedError

MAX_TOKENS = 2000
TIMEOUT_S = 180.0


class JudgeCalls:
    """What judges are asked, and what becomes of their answers."""

    def load(self, ids: Collection[int]) -> QuerySet[JudgeCall]:
        """Return these calls with their judges and comparisons, also of studies closed since."""
        calls = JudgeCall.objects.filter(pk__in=ids).select_related(
            "judge",
            "run",
            "comparison__study",
            "comparison__context",
            "comparison__first",
            "comparison__second",
        )
        return calls.defer("comparison__study__content")  # long, and the same for every call

    def question(self, call: JudgeCall, claim: Claim) -> Question[Answer]:
        """Put rubric, dialogue and the messages: two on the sides drawn, or one alone.

        Raises
        ------
        TextDeletedError
            If one of the messages was deleted.
        """
        if call.comparison.is_erased:
            raise TextDeletedError
        rubric = rubric_of(study_queries.content_of(call.comparison.study))
        prompt = prompts.PAIR if call.comparison.second_id else prompts.ALONE
        turns = _plain_turns(call.comparison)
        request = calling.request_to(
            call.judge,
            messages=prompt.messages(rubric, turns, **_candidates(call)),
            response_schema=prompt.schema(rubric.keys),
            max_tokens=MAX_TOKENS,
            timeout_s=TIMEOUT_S,
            **_sampling(call),
        )
        return Question(
            claim,
            prompt.hash(rubric),
            request,
            lambda raw: prompt.read(raw, rubric.keys),
            tries=TRIES,
        )

    def keep(self, ended: Sequence[tuple[JudgeCall, ModelAnswer[Answer]]]) -> None:
        """End the calls; a valid answer becomes a judgment, an invalid one never does."""
        for call, heard in ended:
            JudgeCall.objects.filter(pk=call.pk).update(**_columns(call, heard))
        _store_judgments(
            [(call, heard, heard.value) for call, heard in ended if heard.value is not None]
        )


ask_judges = partial(asking.ask_for_runs, JudgeCalls(), JudgeRun)
"""Make the waiting judge calls of open studies; an invalid answer is never a vote."""


def request_for(call: JudgeCall) -> llm.Request:
    """Return what a call asks, also one that is planned and not stored."""
    return JudgeCalls().question(call, Claim(0, call.created_at, 0)).request


def _candidates(call: JudgeCall) -> dict[str, str]:
    """Return the texts by their names in the prompt: two on the sides drawn, or one alone."""
    texts = [_dressed(completion.text) for completion in call.comparison.completions]
    if len(texts) == 1:
        return {"candidate": texts[0]}
    a, b = texts if call.first_side == Side.A else reversed(texts)
    return {"a": a, "b": b}


@lru_cache(maxsize=2048)  # a dialogue's turns come back with each of its pairs, twice per judge
def _dressed(text: str) -> str:
    return plain(text)


def _plain_turns(comparison: Comparison) -> list[dict[str, str]]:
    """Return the dialogue in the dress in which raters see it."""
    return [
        {"role": turn["role"], "text": _dressed(turn["text"])} for turn in comparison.context.turns
    ]


def _sampling(call: JudgeCall) -> dict[str, float]:
    """Return the temperature that the call's run asks for: several samples need one above 0."""
    plan = {} if call.run is None else call.run.plan
    return {} if plan.get("temperature") is None else {"temperature": plan["temperature"]}


def _addressed(comparison: Comparison) -> dict[str, list[str]]:
    """Say which texts address the judge, and how: as they came, or in the normaliser's dress.

    The flag is for people who look at the call: it changes neither the answer nor its weight.
    """
    second = comparison.second
    texts = {
        "first": [comparison.first.text],
        "second": [] if second is None else [second.text],
        "dialogue": [turn["text"] for turn in comparison.context.turns],
    }
    found = {
        place: sorted({way for text in said for way in _ways_of(text)})
        for place, said in texts.items()
    }
    return {place: ways for place, ways in found.items() if ways}


@lru_cache(maxsize=2048)
def _ways_of(text: str) -> tuple[str, ...]:
    return addressed_by(f"{text}\n{_dressed(text)}")


def _columns(call: JudgeCall, heard: ModelAnswer[Answer]) -> dict[str, Any]:
    columns = heard.columns()
    if addressed := _addressed(call.comparison):
        columns["asked"] |= {"addressed": addressed}
    if heard.value is not None and heard.value.verdict is not None:
        columns["first_probability"] = _first_probability(call, heard.reply)
    return columns


def _first_probability(call: JudgeCall, reply: llm.Reply) -> float | None:
    """Return how probable it was that the first completion wins, where the provider said so."""
    of_a = probability_of_a(reply.text, reply.tokens)
    return of_a if of_a is None or call.first_side == Side.A else 1 - of_a


def _store_judgments(valid: Sequence[tuple[JudgeCall, ModelAnswer[Answer], Answer]]) -> None:
    answers = [
        verdicts.swap_frame(answer, first_is_a=call.first_side == Side.A)
        for call, _, answer in valid
    ]
    judgments = Judgment.objects.bulk_create(
        _judgment(call, heard, answer)
        for (call, heard, _), answer in zip(valid, answers, strict=True)
    )
    DimensionMark.objects.bulk_create(
        DimensionMark(judgment=judgment, dimension=key, advantage=advantage)
        for judgment, answer in zip(judgments, answers, strict=True)
        for key, advantage in sorted(answer.marks.items())
    )
    nudge(Work.REFIT, within_s=settings.HEART_REFIT_SECONDS)


def _judgment(call: JudgeCall, heard: ModelAnswer[Answer], answer: Answer) -> Judgment:
    return Judgment(
        comparison=call.comparison,
        judge_id=call.judge_id,
        judge_call=call,
        protocol=Protocol.LIKERT if answer.verdict is None else Protocol.RUBRIC,
        verdict=answer.verdict,
        first_side=call.first_side,
        rationale=answer.rationale,
        shown_at=min(heard.question.claim.at, heard.at),
        submitted_at=heard.at,
        protocol_hash=call.comparison.study.protocol_hash,
    )
