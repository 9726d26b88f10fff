"""Calls to model providers as a queue of rows: claimed, answered, postponed or given up."""

import datetime as dt
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import F, Min, Q, QuerySet

from completions import llm
from completions.choices import CallState
from completions.models import ProviderCall

CLAIM_LENGTH = dt.timedelta(minutes=15)
"""A claim older than this is lost: longer than any call with its time limit can take."""
MAX_ATTEMPTS = 8
FIRST_BACKOFF_S = 2.0
LONGEST_BACKOFF_S = 120.0
WORTH_WAITING_S = 15.0
"""A pull stays for a retry that is due within this time; later ones are left to the next."""
ABOUT_THE_TEXT = frozenset({"content_filtered", "empty", "truncated", "lost", "erased"})
"""Failures that say something about one question; after others every question fails alike."""
SETTABLE = frozenset(
    {
        "api_base_env",
        "api_key_env",
        "leave_out",
        "logprobs",
        "max_tokens",
        "opening",
        "price",
        "reasoning_effort",
        "system_role",
        "temperature",
        "timeout_s",
        "top_p",
    }
)

BAD_REQUEST = "bad_request"
_SHOWN = 300
"""Characters of a provider's own words in an error of ours."""

Call = TypeVar("Call", bound=ProviderCall)
Asked = TypeVar("Asked", bound="Question")
Clock = Callable[[], dt.datetime]


class UnknownParameterError(ValueError):
    """A system or judge sets a parameter that nothing reads."""


class ProviderRefusesError(RuntimeError):
    """A provider takes no question of ours: a key, a model's name or an account is not right."""


class Endpoint(Protocol):
    """What a system and a judge have in common."""

    model_id: str
    api_base: str
    parameters: Any
    is_simulated: bool


@dataclass(frozen=True)
class Claim:
    """A worker's hold on a call: whoever claims it later has another time."""

    call_id: int
    at: dt.datetime
    attempts: int


@dataclass(frozen=True)
class Question:
    """A claimed call, ready to be asked."""

    claim: Claim
    prompt_hash: str
    request: llm.Request


@dataclass(frozen=True)
class Answered:
    """A question and the provider's reply to it."""

    question: Question
    at: dt.datetime
    reply: llm.Reply


@dataclass(frozen=True)
class Failed:
    """A claimed call that brought no usable text."""

    claim: Claim
    at: dt.datetime
    error: llm.ProviderError
    question: Question | None = None
    """``None`` if the question could not even be put."""


def request_to(endpoint: Endpoint, **wanted: Any) -> llm.Request:  # noqa: ANN401 (fields of Request)
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
    if endpoint.is_simulated:
        own |= {"api_base": settings.HEART_OFFLINE_LLM_URL, "api_base_env": "", "api_key_env": ""}
    elif endpoint.api_base:
        own["api_base"] = endpoint.api_base
    return llm.Request(model=endpoint.model_id, **wanted | own)


def claimable(calls: QuerySet[Call], *, now: dt.datetime) -> QuerySet[Call]:
    """Return the calls that a worker may take: waiting and due, or held by a lost claim."""
    due = Q(state=CallState.PENDING) & (Q(retry_at=None) | Q(retry_at__lte=now))
    return calls.filter(due | _lost(now), ended_at=None).order_by("pk")


@transaction.atomic
def claim_calls(calls: QuerySet[Call], *, limit: int, now: dt.datetime) -> list[int]:
    """Mark up to ``limit`` claimable calls as claimed and return their ids.

    A call whose claims were lost too often is given up: it may be what kills the workers.
    """
    calls.filter(_lost(now), attempts__gte=MAX_ATTEMPTS).update(
        state=CallState.FAILED,
        ended_at=now,
        error_kind="lost",
        error_detail=f"{MAX_ATTEMPTS} workers claimed it and none came back.",
    )
    free = claimable(calls, now=now).select_for_update(skip_locked=True, of=("self",))
    ids = [call.pk for call in free.only("pk")[:limit]]
    calls.model._default_manager.filter(pk__in=ids).update(  # noqa: SLF001 (documented API)
        state=CallState.CLAIMED, claimed_at=now, retry_at=None, attempts=F("attempts") + 1
    )
    return ids


def forget_claims(calls: QuerySet[Call]) -> int:
    """Return every claimed call to the waiting ones; only for who knows that no worker lives."""
    return calls.filter(state=CallState.CLAIMED).update(state=CallState.PENDING, claimed_at=None)


def refused(calls: QuerySet[Call]) -> QuerySet[Call]:
    """Return those of a model's calls that failed, and would have with any other text.

    A bad request is one of them as long as the model answered none of the calls.
    """
    failed = calls.filter(state=CallState.FAILED).exclude(error_kind__in=ABOUT_THE_TEXT)
    answered = calls.filter(state__in=[CallState.DONE, CallState.INVALID])
    return failed.exclude(error_kind=BAD_REQUEST) if answered.exists() else failed


def refusal(call: ProviderCall) -> ProviderRefusesError:
    """Return the error that says why a provider takes no question."""
    detail = " ".join(call.error_detail.split())[:_SHOWN]
    return ProviderRefusesError(
        f"the provider takes no question ({call.error_kind}): {detail}; "
        "set right what it names and start again: what was answered is kept"
    )


def ask_again(calls: QuerySet[Call]) -> int:
    """Return refused calls to the waiting ones; they brought nothing that was paid for."""
    return calls.filter(state=CallState.FAILED).update(
        state=CallState.PENDING,
        claimed_at=None,
        ended_at=None,
        retry_at=None,
        attempts=0,
        error_kind="",
        error_detail="",
    )


def seconds_to_retry(calls: QuerySet[Call], *, now: dt.datetime) -> float | None:
    """Return how long until a postponed call is due, or None if that is not worth waiting for."""
    waiting = calls.filter(state=CallState.PENDING, retry_at__gt=now)
    earliest: dt.datetime | None = waiting.aggregate(at=Min("retry_at"))["at"]
    if earliest is None:
        return None
    seconds = (earliest - now).total_seconds()
    return seconds if seconds <= WORTH_WAITING_S else None


def prepare(
    calls: QuerySet[Call],
    rows: Iterable[Call],
    put: Callable[[Call, Claim], Asked],
    now: dt.datetime,
) -> list[Asked]:
    """Return the questions of freshly claimed rows; a row that cannot be put is given up."""
    questions = []
    for row in rows:
        claim = Claim(row.pk, now, row.attempts)
        try:
            questions.append(put(row, claim))
        except ValueError as error:
            reason = llm.PermanentError(str(error), kind="configuration")
            store_failure(calls, Failed(claim, now, reason))
    return questions


def release_calls(calls: QuerySet[Call], claims: Iterable[Claim]) -> None:
    """Give claims back that were not used; they do not count as attempts."""
    for claim in claims:
        _held(calls, claim).update(state=CallState.PENDING, attempts=F("attempts") - 1)


def store_failure(calls: QuerySet[Call], failed: Failed) -> None:
    """Postpone a call that may heal, or give it up with the kind of its failure."""
    claim, error = failed.claim, failed.error
    named = {"error_kind": error.kind[:40], "error_detail": storable(str(error))}
    if isinstance(error, llm.TransientError) and claim.attempts < MAX_ATTEMPTS:
        retry_at = failed.at + dt.timedelta(seconds=_backoff_s(claim, error))
        _held(calls, claim).update(state=CallState.PENDING, retry_at=retry_at, **named)
        return
    kept: dict[str, Any] = {}
    if failed.question is not None and error.reply is not None:
        kept = reply_fields(failed.question, error.reply)
    _held(calls, claim).update(state=CallState.FAILED, ended_at=failed.at, **kept | named)


def reply_fields(question: Question, reply: llm.Reply) -> dict[str, Any]:
    """Return the columns that keep a reply as it came."""
    return {
        "prompt_hash": question.prompt_hash,
        "asked": question.request.asked(),
        "honoured": {**reply.honoured, "dropped": list(reply.dropped)},
        "raw_answer": storable(reply.text),
        "finish_reason": reply.finish_reason[:40],
        "provider_id": storable(reply.provider_id)[:120],
        "n_prompt_tokens": reply.n_prompt_tokens,
        "n_completion_tokens": reply.n_completion_tokens,
        "cost_usd": None if reply.cost_usd is None else Decimal(f"{reply.cost_usd:.6f}"),
        "ttft_ms": reply.ttft_ms,
        "latency_ms": reply.latency_ms,
        "error_kind": "",
        "error_detail": "",
    }


def storable(text: str) -> str:
    """Return ``text`` with marks in place of what a database cannot hold."""
    return re.sub("[\x00\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text)


def _lost(now: dt.datetime) -> Q:
    return Q(state=CallState.CLAIMED, claimed_at__lte=now - CLAIM_LENGTH)


def _held(calls: QuerySet[Call], claim: Claim) -> QuerySet[Call]:
    """Return the call's row, as long as nobody else has claimed or ended it since."""
    return calls.filter(pk=claim.call_id, state=CallState.CLAIMED, claimed_at=claim.at)


def _backoff_s(claim: Claim, error: llm.TransientError) -> float:
    """Return the wait before the next attempt: doubling, spread, never before Retry-After."""
    doubled = min(FIRST_BACKOFF_S * 2.0 ** (claim.attempts - 1), LONGEST_BACKOFF_S)
    spread = 1 + (claim.call_id % 10) / 20  # not all rows of a throttled batch at once
    return max(doubled * spread, error.retry_after_s or 0.0)
