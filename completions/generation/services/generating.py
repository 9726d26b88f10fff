"""Have model systems complete contexts: plan the calls, claim them, keep what comes back."""

import datetime as dt
import hashlib
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from completions import llm
from completions.choices import CallState
from completions.generation import departures
from completions.llm import prompts
from completions.models import Completion, Context, Dataset, GenerationCall, GenerationRun, System
from completions.runs import pulling, queries
from completions.runs.services import calling, speaking, states
from completions.runs.services.calling import Answered, Claim, Clock, Failed, Question

MAX_TOKENS = 300
TIMEOUT_S = 120.0
_TURN = threading.Lock()


class NotAModelError(ValueError):
    """Only a language model can be asked for completions."""


@transaction.atomic
def plan_generation_calls(
    *,
    dataset: Dataset,
    systems: Collection[System],
    now: dt.datetime,
    run: GenerationRun | None = None,
) -> int:
    """Add the calls that every context in use and system lack; return how many were added.

    They belong to ``run``, if one is given. Planning again adds nothing for a pair that has a
    call, whatever its state, or a completion.

    Raises
    ------
    NotAModelError
        If one of the systems is not a language model; nothing is added then.
    """
    if other := sorted(one.slug for one in systems if not one.model_id):
        msg = f"not language models: {other}"
        raise NotAModelError(msg)
    Dataset.objects.select_for_update().get(pk=dataset.pk)  # one planner at a time
    added = [
        GenerationCall(run=run, context=context, system=system, created_at=now)
        for system in sorted(systems, key=lambda one: one.slug)
        for context in _contexts_without(dataset, system)
    ]
    GenerationCall.objects.bulk_create(added, batch_size=500)
    return len(added)


def generate_completions(
    *,
    clock: Clock,
    duration_s: float = 30.0,
    run: GenerationRun | None = None,
    stored: Callable[[], None] = lambda: None,
) -> int:
    """Make the waiting generation calls, several at a time, and return how many ended.

    With ``run`` those of one run alone. ``stored`` is called whenever results have been stored.

    Providers are called outside any transaction. Safe to run twice and in many processes: a
    call is claimed by one, and what has ended is never asked again.
    """
    limits = pulling.PullLimits(concurrency=settings.HEART_LLM_CONCURRENCY, duration_s=duration_s)
    queue = _Queue(clock, run, stored)

    async def ask(question: Question) -> Answered | Failed:
        queue.sent.add(question.claim)
        try:
            reply = await speaking.ask_provider(question.request, clock=clock)
        except Exception as error:  # whatever it is, it fails this call alone
            return Failed(question.claim, clock(), llm.as_error(error), question)
        return Answered(question, clock(), reply)

    return pulling.pull_here(queue, ask, limits=limits, turn=_TURN)


@dataclass(frozen=True)
class _Queue:
    """The table of generation calls, as a pull sees it."""

    clock: Clock
    run: GenerationRun | None = None
    stored: Callable[[], None] = lambda: None
    sent: set[Claim] = field(default_factory=set, compare=False)
    """What a provider has heard of: broken off, it may have been paid for."""

    def claim(self, limit: int) -> pulling.Claimed[Question]:
        """Claim calls and load what their questions need."""
        calls, now = queries.calls_to_make(GenerationRun, self.run), self.clock()
        questions = calling.claim_questions(calls, _load, _question, limit=limit, now=now)
        is_short = len(questions) < limit
        wait_s = calling.seconds_to_retry(calls, now=now) if is_short else None
        return pulling.Claimed(questions, wait_s)

    def store(self, results: Sequence[Answered | Failed]) -> None:
        """Keep completions and failures."""
        _store_completions([result for result in results if isinstance(result, Answered)])
        for result in results:
            if isinstance(result, Failed):
                calling.store_failure(GenerationCall.objects.all(), result)
        claims = {_claim(result) for result in results}
        self.sent.difference_update(claims)
        states.end_runs_of(GenerationCall, [one.call_id for one in claims], now=self.clock())
        self.stored()

    def release(self, items: Sequence[Question]) -> None:
        """Give unused claims back."""
        claims = [item.claim for item in items]
        calling.release_calls(GenerationCall.objects.all(), claims, sent=self.sent)


def _claim(result: Answered | Failed) -> Claim:
    return result.question.claim if isinstance(result, Answered) else result.claim


def _load(ids: Collection[int]) -> QuerySet[GenerationCall]:
    return GenerationCall.objects.filter(pk__in=ids).select_related("context", "system")


def _contexts_without(dataset: Dataset, system: System) -> Sequence[Context]:
    """Return the contexts in use that the system has not completed nor been asked to complete."""
    called = GenerationCall.objects.filter(context=OuterRef("pk"), system=system)
    completed = Completion.objects.filter(context=OuterRef("pk"), system=system)
    contexts = Context.objects.in_use().filter(~Exists(called), ~Exists(completed))
    return list(contexts.filter(dataset=dataset).only("pk").order_by("pk"))


def request_for(system: System, context: Context) -> llm.Request:
    """Return what a system is asked to do about a context."""
    prompt = prompts.load_prompt(prompts.SUPPORTER)
    return calling.request_to(
        system,
        messages=prompts.supporter_messages(context.turns, prompt),
        max_tokens=MAX_TOKENS,
        timeout_s=TIMEOUT_S,
        stream=True,  # the only way to see the time to first token
    )


def _question(call: GenerationCall, claim: Claim) -> Question:
    prompt = prompts.load_prompt(prompts.SUPPORTER)
    return Question(claim, prompt.hash, request_for(call.system, call.context))


@transaction.atomic
def _store_completions(answers: Sequence[Answered]) -> None:
    """Keep each reply once; a call that has ended meanwhile keeps what it has."""
    ids = [answered.question.claim.call_id for answered in answers]
    open_calls = GenerationCall.objects.filter(pk__in=ids, ended_at=None).order_by("pk")
    held = {call.pk: call for call in open_calls.select_for_update()}
    fresh = [answered for answered in answers if answered.question.claim.call_id in held]
    stored = Completion.objects.bulk_create(
        _completion(held[answered.question.claim.call_id], answered) for answered in fresh
    )
    for answered, completion in zip(fresh, stored, strict=True):
        GenerationCall.objects.filter(pk=answered.question.claim.call_id).update(
            state=CallState.DONE,
            ended_at=answered.at,
            completion=completion,
            **_record(answered),
        )
    calling.settle_answers(
        [(held[one.question.claim.call_id], one.question.claim, one.reply) for one in fresh]
    )


def _record(answered: Answered) -> dict[str, Any]:
    """Return the columns that keep a reply, with what is unusual about its form."""
    reply = answered.reply
    fields = calling.reply_fields(answered.question, reply)
    flags = departures.flags_of(reply.raw_text or reply.text)
    return fields | {"honoured": {**fields["honoured"], "flags": flags}}


def _completion(call: GenerationCall, answered: Answered) -> Completion:
    """Return the completion as shown: on one line, so that its layout cannot name its source."""
    text = " ".join(answered.reply.text.split())
    return Completion(
        context_id=call.context_id,
        system_id=call.system_id,
        text=text,
        content_hash=hashlib.sha256(text.encode()).hexdigest(),
        created_at=answered.at,
    )
