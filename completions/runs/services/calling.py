"""Calls to model providers as a queue of rows: put, claimed, answered, postponed or given up."""

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import F, Min, Q, QuerySet

from access.nudges import is_lost
from completions import llm
from completions.choices import CallState, RunState
from completions.llm.exchange import LONGEST_TIMEOUT_S
from completions.models import ProviderCall
from completions.runs.queries import has_runs
from completions.runs.services import budgeting, speaking, states
from completions.runs.services.budgeting import ModelEndpoint

Value = TypeVar("Value")

UNPAID = frozenset(
    {
        *(*states.KINDS, states.ERASED, speaking.NOT_ASKED),
        *("bad_request", "rate_limited", "too_early"),
    }
)
"""Failures for which no provider takes money; after others nobody knows."""
OF_EACH_CALL = {"model", "messages", "api_base", "response_schema", "stream"}
SETTABLE = frozenset(one.name for one in fields(llm.Request)) - OF_EACH_CALL
"""What a system or a judge may have set: all of a request that is not said with each call."""


class UnknownParameterError(ValueError):
    """A system or judge sets a parameter that nothing reads."""


Clock = Callable[[], dt.datetime]
TRIES = 2
"""How often a question about JSON is put: what cannot be read is asked for once more."""


@dataclass(frozen=True)
class Claim:
    """A worker's hold on a call: whoever claims it later makes another attempt."""

    call_id: int
    at: dt.datetime
    attempts: int


@dataclass(frozen=True)
class Question(Generic[Value]):
    """A claimed call, ready to be asked: what, how its answer is read, and how often at most."""

    claim: Claim
    prompt_hash: str
    request: llm.Request
    read: Callable[[str], Value]
    """Raises InvalidAnswerError with a fault that can be sent back."""
    tries: int = 1


@dataclass(frozen=True)
class Failed:
    """A claimed call that brought no usable text."""

    claim: Claim
    at: dt.datetime
    error: llm.ProviderError
    question: Question[Any] | None = None
    """``None`` if the question could not even be put."""
    before: llm.Reply | None = None
    """What the model had answered, and been paid for, before it was asked again in vain."""

    @property
    def cost_usd(self) -> Decimal | None:
        """Return what the failure has cost, or None if nobody knows."""
        replies = [one for one in (self.before, self.error.reply) if one is not None]
        if self.error.reply is None and self.error.kind not in UNPAID:
            return None
        return total(reply.cost_usd for reply in replies)


def request_to(endpoint: ModelEndpoint, **wanted: Any) -> llm.Request:  # noqa: ANN401 (fields of Request)
    """Return a request to a system's or judge's model; its own parameters come last.

    A simulated one is answered by the offline provider, whatever address its row holds.

    Raises
    ------
    UnknownParameterError
        If the row sets a parameter that is not known.
    """
    if unknown := sorted(set(endpoint.parameters) - SETTABLE):
        msg = f"unknown parameters {unknown}; known are {sorted(SETTABLE)}"
        raise UnknownParameterError(msg)
    own = dict(endpoint.parameters)
    if "timeout_s" in own:  # rows may be older than the rule
        own["timeout_s"] = min(own["timeout_s"], LONGEST_TIMEOUT_S)
    if endpoint.is_simulated:
        own |= {"api_base": settings.HEART_OFFLINE_LLM_URL, "api_base_env": "", "api_key_env": ""}
    elif endpoint.api_base:
        own["api_base"] = endpoint.api_base
    return llm.Request(model=endpoint.model_id, **wanted | own)


def total(costs: Iterable[float | None]) -> Decimal | None:
    """Return the sum, or None if one of them is not known."""
    known = list(costs)
    if any(cost is None for cost in known):
        return None
    return sum((Decimal(f"{cost:.6f}") for cost in known), Decimal(0))


CLAIM_LENGTH = dt.timedelta(minutes=2)
"""A claim not renewed for so long is lost: longer than a database that is away is waited for."""
MAX_ATTEMPTS = 8
FIRST_BACKOFF_S = 2.0
LONGEST_BACKOFF_S = 120.0
WORTH_WAITING_S = 15.0
"""A pull stays for a retry that is due within this time; later ones are left to the next."""

Call = TypeVar("Call", bound=ProviderCall)
Asked = TypeVar("Asked", bound=Question[Any])


def claimable(calls: QuerySet[Call], *, now: dt.datetime) -> QuerySet[Call]:
    """Return the calls that a worker may take: waiting and due, or held by a lost claim.

    None of a run that stands still or is over.
    """
    due = Q(state=CallState.PENDING) & (Q(retry_at=None) | Q(retry_at__lte=now))
    return of_active_runs(calls).filter(due | lost(now), ended_at=None).order_by("pk")


@transaction.atomic  # all or nothing: a claim whose questions were lost would stand for long
def claim_questions(
    calls: QuerySet[Call],
    load: Callable[[Collection[int]], QuerySet[Call]],
    put: Callable[[Call, Claim], Asked],
    *,
    limit: int,
    now: dt.datetime,
) -> list[Asked]:
    """Claim up to ``limit`` calls and return their questions, as far as budgets go.

    What a call can cost at most is reserved before it is asked; one for which too little is left
    waits again, or its run is paused.
    """
    rows = list(load(claim_calls(calls, limit=limit, now=now)).order_by("pk"))
    questions = prepare(calls, rows, put, now)
    loaded = {row.pk: row for row in rows}
    requests = [
        budgeting.CallRequest(loaded[one.claim.call_id], one.request, one.tries)
        for one in questions
    ]
    admitted = budgeting.reserve(requests, now=now)
    return [one for one in questions if one.claim.call_id in admitted]


@transaction.atomic
def claim_calls(calls: QuerySet[Call], *, limit: int, now: dt.datetime) -> list[int]:
    """Mark up to ``limit`` claimable calls as claimed and return their ids."""
    _take_from_the_dead(calls, now)
    free = claimable(calls, now=now).select_for_update(skip_locked=True, of=("self",))
    ids = [call.pk for call in free.only("pk")[:limit]]
    _all(calls).filter(pk__in=ids).update(
        state=CallState.CLAIMED, claimed_at=now, retry_at=None, attempts=F("attempts") + 1
    )
    return ids


def _take_from_the_dead(calls: QuerySet[Call], now: dt.datetime) -> None:
    """Have lost claims wait again; what was reserved for them counts as spent.

    A call whose claims were lost too often is given up: it may be what kills the workers.
    """
    found = calls.filter(lost(now)).order_by("pk")
    rows = list(found.select_for_update(skip_locked=True, of=("self",)))
    if not rows:
        return
    budgeting.settle((row, None) for row in rows)
    given_up = [row.pk for row in rows if row.attempts >= MAX_ATTEMPTS]
    _all(calls).filter(pk__in=[row.pk for row in rows]).update(
        state=CallState.PENDING, reserved_usd=0
    )
    _all(calls).filter(pk__in=given_up).update(
        state=CallState.FAILED,
        ended_at=now,
        error_kind="lost",
        error_detail=f"{MAX_ATTEMPTS} workers claimed it and none came back.",
    )


@transaction.atomic
def forget_claims(calls: QuerySet[Call]) -> int:
    """Return every claimed call to the waiting ones; only for who knows that no worker lives."""
    claimed = calls.filter(state=CallState.CLAIMED, ended_at=None).order_by("pk")
    rows = list(claimed.select_for_update(of=("self",)))
    budgeting.settle((row, None) for row in rows)
    waiting = {"state": CallState.PENDING, "claimed_at": None, "reserved_usd": 0}
    return _all(calls).filter(pk__in=[row.pk for row in rows]).update(**waiting)


def seconds_to_retry(calls: QuerySet[Call], *, now: dt.datetime) -> float | None:
    """Return how long until a postponed call is due, or None if none is."""
    waiting = of_active_runs(calls).filter(state=CallState.PENDING, ended_at=None, retry_at__gt=now)
    earliest: dt.datetime | None = waiting.aggregate(at=Min("retry_at"))["at"]
    return None if earliest is None else (earliest - now).total_seconds()


def prepare(
    calls: QuerySet[Call],
    rows: Iterable[Call],
    put: Callable[[Call, Claim], Asked],
    now: dt.datetime,
) -> list[Asked]:
    """Return the questions of freshly claimed rows; a row that cannot be put is given up.

    A ProviderError says by itself why; other faults lie in how the model is set up.
    """
    questions = []
    for row in rows:
        claim = Claim(row.pk, now, row.attempts)
        try:
            questions.append(put(row, claim))
        except llm.ProviderError as error:
            store_failure(calls, Failed(claim, now, error))
        except ValueError as error:
            reason = llm.PermanentError(str(error), kind="configuration")
            store_failure(calls, Failed(claim, now, reason))
    return questions


@transaction.atomic
def renew_claims(calls: QuerySet[Call], claims: Iterable[Claim], *, now: dt.datetime) -> None:
    """Note that the worker which holds these claims lives."""
    held = [row.pk for row in _lock_held(calls, claims)]
    _all(calls).filter(pk__in=held).update(claimed_at=now)


@transaction.atomic
def release_calls(
    calls: QuerySet[Call], claims: Iterable[Claim], *, sent: Collection[Claim] = ()
) -> None:
    """Give claims back that were not used; they do not count as attempts.

    Those that were ``sent`` and broken off may have been paid for.
    """
    sent_ids = {claim.call_id for claim in sent}
    held = _lock_held(calls, claims)
    budgeting.settle((row, None if row.pk in sent_ids else Decimal(0)) for row in held)
    _all(calls).filter(pk__in=[row.pk for row in held]).update(
        state=CallState.PENDING, attempts=F("attempts") - 1, reserved_usd=0
    )


@transaction.atomic
def store_failure(calls: QuerySet[Call], failed: Failed) -> None:
    """Postpone a call that may heal, or give it up with the kind of its failure."""
    claim, error = failed.claim, failed.error
    held = _lock_held(calls, [claim])
    if not held:  # somebody else has claimed or ended it since
        return
    (row,) = held
    _all(calls).filter(pk=row.pk).update(**_failure_fields(failed))
    budgeting.settle([(row, failed.cost_usd)])
    states.pause_if_refused(row, error.kind, str(error), now=failed.at)


def _lock_held(calls: QuerySet[Call], claims: Iterable[Claim]) -> list[Call]:
    """Lock and return the calls that these claims still hold."""
    attempts = {claim.call_id: claim.attempts for claim in claims}
    claimed = calls.filter(pk__in=attempts, state=CallState.CLAIMED).order_by("pk")
    rows = claimed.select_for_update(of=("self",))
    return [row for row in rows if row.attempts == attempts[row.pk]]


def _failure_fields(failed: Failed) -> dict[str, Any]:
    """Return the columns that postpone a call or give it up."""
    claim, error = failed.claim, failed.error
    named = {
        "error_kind": error.kind[:40],
        "error_detail": str(error),
        "reserved_usd": 0,
    }
    if isinstance(error, speaking.NotAskedError) and failed.before is None:
        return _given_back(failed.at, error) | named
    if isinstance(error, llm.TransientError) and claim.attempts < MAX_ATTEMPTS:
        retry_at = failed.at + dt.timedelta(seconds=_backoff_s(claim, error))
        return {"state": CallState.PENDING, "retry_at": retry_at, **named}
    kept: dict[str, Any] = {}
    if failed.question is not None and error.reply is not None:
        kept = reply_fields(failed.question, error.reply)
    return {"state": CallState.FAILED, "ended_at": failed.at, **kept, **named}


def _given_back(at: dt.datetime, error: speaking.NotAskedError) -> dict[str, Any]:
    """Return the columns of a call whose turn is far off: that was no attempt."""
    retry_at = at + dt.timedelta(seconds=error.retry_after_s or 0.0)
    return {"state": CallState.PENDING, "retry_at": retry_at, "attempts": F("attempts") - 1}


def settle_answers(answered: Sequence[tuple[Call, Claim, llm.Reply]]) -> None:
    """Count what answers have cost; the rows are as they were under their lock.

    The answer of a worker that lost its claim ends the call of another, who may be paid as well:
    then all that this one has reserved counts as spent.
    """
    budgeting.settle(
        (row, total([reply.cost_usd]) if row.attempts == claim.attempts else None)
        for row, claim, reply in answered
    )


def reply_fields(question: Question[Any], reply: llm.Reply) -> dict[str, Any]:
    """Return the columns that keep a reply as it came."""
    return {
        "prompt_hash": question.prompt_hash,
        "asked": question.request.asked(),
        "honoured": {
            **reply.honoured,
            "dropped": list(reply.dropped),
            **({"stripped": list(reply.stripped)} if reply.stripped else {}),
        },
        "raw_answer": reply.raw_text or reply.text,
        "finish_reason": reply.finish_reason[:40],
        "provider_id": reply.provider_id[:120],
        "n_prompt_tokens": reply.n_prompt_tokens,
        "n_completion_tokens": reply.n_completion_tokens,
        "cost_usd": total([reply.cost_usd]),
        "reserved_usd": 0,
        "ttft_ms": reply.ttft_ms,
        "latency_ms": reply.latency_ms,
        "error_kind": "",
        "error_detail": "",
    }


def lost(now: dt.datetime) -> Q:
    """Return what tells the calls of dead workers.

    Of all calls, the open ones alone are in an index: so none that ended is looked at.
    """
    old = is_lost(now=now, after=CLAIM_LENGTH)
    return old & Q(state=CallState.CLAIMED, ended_at=None)


def of_active_runs(calls: QuerySet[Call]) -> QuerySet[Call]:
    """Leave out the calls of runs that stand still or are over."""
    if not has_runs(calls.model):
        return calls
    return calls.filter(Q(run=None) | Q(run__state=RunState.RUNNING))


def _all(calls: QuerySet[Call]) -> QuerySet[Call]:
    """Return the table itself, without joins and filters."""
    rows: QuerySet[Call] = calls.model._default_manager.all()  # noqa: SLF001 (documented API)
    return rows


def _backoff_s(claim: Claim, error: llm.TransientError) -> float:
    """Return the wait before the next attempt: doubling, spread, never before Retry-After."""
    doubled = min(FIRST_BACKOFF_S * 2.0 ** (claim.attempts - 1), LONGEST_BACKOFF_S)
    spread = 1 + (claim.call_id % 10) / 20  # not all rows of a throttled batch at once
    return max(doubled * spread, error.retry_after_s or 0.0)
