"""Ask models, several at a time: answers are read strictly, asked for once more, then kept."""

import datetime as dt
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet

from completions import llm
from completions.choices import CallState
from completions.llm import prompts
from completions.llm.answers import InvalidAnswerError, noting_repairs
from completions.models import ProviderCall, Run
from completions.runs import pulling
from completions.runs.queries import calls_to_make
from completions.runs.services import calling, exclusive, speaking, states
from completions.runs.services.calling import Claim, Clock, Failed, Question

Row = TypeVar("Row", bound=ProviderCall)
Value = TypeVar("Value")
_TURNS: dict[type, threading.Lock] = {}
"""For each kind of call, whose turn it is: one thread of a process makes its calls at a time."""


@dataclass(frozen=True)
class ModelAnswer(Generic[Value]):
    """What a model said: a value, or the fault of its last answer."""

    question: Question[Value]
    at: dt.datetime
    reply: llm.Reply
    value: Value | None
    first_try: dict[str, str]
    """An unusable first answer and its fault, if there was one."""
    fault: str = ""
    repairs: tuple[str, ...] = ()
    """What was not to the letter what was asked for, and read all the same."""

    @property
    def claim(self) -> Claim:
        """Return the hold on the call."""
        return self.question.claim

    def columns(self) -> dict[str, Any]:
        """Return the columns that end the call: done with a value, invalid without."""
        fields = calling.reply_fields(self.question, self.reply) | {"ended_at": self.at}
        fields["asked"] |= {"first_try": self.first_try} if self.first_try else {}
        fields["honoured"] |= {"repaired": list(self.repairs)} if self.repairs else {}
        if self.value is not None:
            return fields | {"state": CallState.DONE}
        fault = {"error_kind": "invalid_answer", "error_detail": self.fault}
        return fields | fault | {"state": CallState.INVALID}


class CallKind(Protocol[Row, Value]):
    """What one kind of call asks, and what becomes of the answers."""

    def load(self, ids: Collection[int]) -> QuerySet[Row]:
        """Return these calls with all that a question, and keeping its answer, need."""

    def question(self, call: Row, claim: Claim) -> Question[Value]:
        """Put the question."""

    def keep(self, ended: Sequence[tuple[Row, ModelAnswer[Value]]]) -> None:
        """End the calls, whose rows are locked and open, and store what follows from each."""


def ask_for_runs(
    kind: CallKind[Any, Any],
    runs: type[Run],
    *,
    clock: Clock,
    duration_s: float = 30.0,
    run: Run | None = None,
    stored: Callable[[], None] = lambda: None,
) -> int:
    """Make the waiting calls of such runs, or of ``run`` alone, as `ask` does."""
    calls = calls_to_make(runs, run)
    return ask(kind, calls, clock=clock, duration_s=duration_s, stored=stored)


def ask(
    kind: CallKind[Row, Value],
    calls: QuerySet[Row],
    *,
    clock: Clock,
    duration_s: float,
    stored: Callable[[], None] = lambda: None,
) -> int:
    """Make those of the calls that wait, several at a time, and return how many ended.

    An answer that cannot be read is asked for once more with the fault, where its question allows
    that, then kept as invalid.
    ``stored`` is called whenever results have been stored, to show how far it is.

    Safe to run twice and in many processes: a call is claimed by one, and what has ended is
    never asked again. Providers are called outside any transaction.
    """
    limits = pulling.PullLimits(concurrency=settings.HEART_LLM_CONCURRENCY, duration_s=duration_s)
    queue = CallQueue(kind, calls, clock, stored)

    async def put(question: Question[Value]) -> ModelAnswer[Value] | Failed:
        queue.sent.add(question.claim)
        try:
            return await _ask(question, clock)
        except Exception as error:  # whatever it is, it fails this call alone
            return Failed(question.claim, clock(), llm.as_error(error), question)

    turn = _TURNS.setdefault(type(kind), threading.Lock())
    return pulling.pull_here(queue, put, limits=limits, turn=turn)


AWAY_S = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""How long the database is waited for, time by time: it is back from a restart by then."""
Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def outlasting(act: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Do it again while the database is away: giving up loses answers that are paid for."""

    @wraps(act)
    def acted(*given: Given.args, **named: Given.kwargs) -> Returned:
        for wait_s in AWAY_S:
            try:
                return act(*given, **named)
            except exclusive.AWAY:
                time.sleep(wait_s)
                if not connection.in_atomic_block:  # Django would drop one that is sound
                    connection.close_if_unusable_or_obsolete()
        return act(*given, **named)

    return acted


@dataclass(frozen=True)
class CallQueue(Generic[Row, Value]):
    """A table of calls, as a pull sees it."""

    kind: CallKind[Row, Value]
    calls: QuerySet[Row]
    clock: Clock
    stored: Callable[[], None] = lambda: None
    sent: set[Claim] = field(default_factory=set, compare=False)
    """What a provider has heard of: broken off, it may have been paid for."""

    @outlasting
    def claim(self, limit: int) -> pulling.Claimed[Question[Value]]:
        """Claim calls and load what their questions need."""
        now, kind = self.clock(), self.kind
        questions = calling.claim_questions(
            self.calls, kind.load, kind.question, limit=limit, now=now
        )
        is_short = len(questions) < limit
        wait_s = calling.seconds_to_retry(self.calls, now=now) if is_short else None
        return questions, wait_s if wait_s and wait_s <= calling.WORTH_WAITING_S else None

    @outlasting
    def store(self, results: Sequence[ModelAnswer[Value] | Failed]) -> None:
        """Keep answers and failures."""
        self._keep([result for result in results if isinstance(result, ModelAnswer)])
        for result in results:
            if isinstance(result, Failed):
                calling.store_failure(self.kind.load([result.claim.call_id]), result)
        claims = {result.claim for result in results}
        self.sent.difference_update(claims)
        ids = [claim.call_id for claim in claims]
        states.end_runs_of(self.kind.load(ids).model, ids, now=self.clock())
        self.stored()

    @outlasting
    def release(self, items: Sequence[Question[Value]]) -> None:
        """Give unused claims back."""
        ids = [item.claim.call_id for item in items]
        claims = [item.claim for item in items]
        calling.release_calls(self.kind.load(ids), claims, sent=self.sent)

    @outlasting
    def renew(self, items: Sequence[Question[Value]]) -> None:
        """Say that the claims are still held."""
        calls = self.kind.load([item.claim.call_id for item in items])
        calling.renew_claims(calls, [item.claim for item in items], now=self.clock())

    @transaction.atomic
    def _keep(self, answers: Sequence[ModelAnswer[Value]]) -> None:
        """Keep each answer once; a call that has ended meanwhile keeps what it has."""
        rows = self.kind.load([heard.claim.call_id for heard in answers])
        rows = rows.filter(ended_at=None).order_by("pk").select_for_update(of=("self",))
        held = {call.pk: call for call in rows}
        ended = [
            (held[heard.claim.call_id], heard) for heard in answers if heard.claim.call_id in held
        ]
        self.kind.keep(ended)
        calling.settle_answers([(call, heard.claim, heard.reply) for call, heard in ended])


async def _ask(question: Question[Value], clock: Clock) -> ModelAnswer[Value] | Failed:
    """Ask once, and once more if the answer cannot be read and may be asked for again."""
    reply = await speaking.ask_provider(question.request, clock=clock)
    value, fault, repairs = _read(reply, question.read)
    if value is not None or question.tries == 1:
        return ModelAnswer(question, clock(), reply, value, {}, fault, repairs)
    first_try = {"answer": reply.raw_text or reply.text, "fault": fault}
    correction = prompts.correction_messages(reply.text, fault)
    messages = (*question.request.messages, *correction)
    try:
        again = await speaking.ask_provider(
            replace(question.request, messages=messages),
            clock=clock,
            patience_s=speaking.LONG_PATIENCE_S,
        )
    except Exception as error:
        return Failed(question.claim, clock(), llm.as_error(error), question, before=reply)
    value, fault, repairs = _read(again, question.read)
    return ModelAnswer(question, clock(), _summed(reply, again), value, first_try, fault, repairs)


def _read(
    reply: llm.Reply, read: Callable[[str], Value]
) -> tuple[Value | None, str, tuple[str, ...]]:
    """Return the answer with its repairs, or None and what is wrong with it."""
    with noting_repairs() as repairs:
        try:
            return read(reply.text), "", tuple(repairs)
        except InvalidAnswerError as error:
            return None, str(error), ()


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
