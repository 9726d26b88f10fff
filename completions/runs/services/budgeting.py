"""What calls may cost: reserved from a run's budget before they are made, settled afterwards.

A reservation is the most that a call can cost. Under the lock of the run's row the money spent
and the money reserved never exceed the budget together, however many workers there are.
"""

import datetime as dt
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from typing import Any, Protocol

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Round

from completions import llm
from completions.choices import CallState, PauseReason, RunState
from completions.models import ProviderCall, Run
from completions.runs.queries import endpoint_name, run_rows
from completions.runs.services import states

CENT_DIGITS = 6
CENT = Decimal(1).scaleb(-CENT_DIGITS)
"""The smallest sum that is counted: a millionth of a dollar."""
MESSAGE_TOKENS = 16
"""What a provider may add to each message: its role and what sets it apart."""
CORRECTION_TOKENS = 2000
"""What is said before an answer is asked for again, beside the first one."""
NOTHING = {"input": 0.0, "output": 0.0}

Price = Mapping[str, float]


class UnknownPriceError(ValueError):
    """A budget cannot be kept with a model of which nobody says what a call costs at most."""


class ModelEndpoint(Protocol):
    """What a system, a judge and an assistant have in common."""

    slug: str
    name: str
    model_id: str
    api_base: str
    parameters: Any
    is_simulated: bool


def price_of(endpoint: ModelEndpoint) -> Price | None:
    """Return what a million tokens cost each way, in US dollars, or None if nobody says so.

    The price in the endpoint's own parameters comes before what LiteLLM lists, which holds at the
    provider's own address alone. Who is simulated costs nothing, unless a price is set.
    """
    parameters = endpoint.parameters
    if (own := parameters.get("price")) is not None:
        return {way: float(own[way]) for way in NOTHING}
    if endpoint.is_simulated:
        return NOTHING
    if endpoint.api_base or parameters.get("api_base_env"):
        return None
    return llm.listed_price(endpoint.model_id)


def price_at_most(endpoint: ModelEndpoint) -> Price | None:
    """Return the price if it says what a call costs at most, or None if nobody can say that.

    An answer whose length is not limited may cost any sum, unless it is free.
    """
    price = price_of(endpoint)
    is_limited = "max_tokens" not in endpoint.parameters.get("leave_out", ())
    return price if is_limited or not any((price or NOTHING).values()) else None


def refuse_unknown_prices(endpoints: Iterable[ModelEndpoint]) -> None:
    """Raise UnknownPriceError if nobody can say what calls cost at most; the error names whose."""
    if unpriced := sorted(one.slug for one in endpoints if price_at_most(one) is None):
        msg = (
            "a budget needs to know the most that a call can cost, and nobody can say it for "
            f"{', '.join(unpriced)}: set `price` in their parameters, keep `max_tokens` out of "
            "`leave_out`, or give no budget"
        )
        raise UnknownPriceError(msg)


def most_usd(request: llm.Request, price: Price, *, tries: int = 1) -> Decimal:
    """Return the most that asking can cost, rounded up.

    Each further try sends the question again, with the answer before it.
    """
    prompt, answer = most_prompt_tokens(request), request.max_tokens
    further = tries * (tries - 1) // 2 * (answer + CORRECTION_TOKENS)
    each = {way: Decimal(str(price[way])) for way in NOTHING}
    usd = (tries * prompt + further) * each["input"] + tries * answer * each["output"]
    return (usd * CENT).quantize(CENT, ROUND_UP)


def most_prompt_tokens(request: llm.Request) -> int:
    """Return an upper bound of the tokens of a question: no tokenizer makes more than bytes."""
    texts = [message["content"] for message in request.messages]
    texts.append(request.opening)
    if request.response_schema is not None:
        texts.append(json.dumps(request.response_schema))
    n_bytes = sum(len(text.encode(errors="surrogatepass")) for text in texts)
    return n_bytes + MESSAGE_TOKENS * (len(request.messages) + 2)


def settle(ended: Iterable[tuple[ProviderCall, Decimal | None]]) -> None:
    """Count what calls have cost, and give back the rest of what was reserved for them.

    Takes rows as they are under their lock, in one transaction with the change that sets their
    ``reserved_usd`` to nothing. A cost of None is not known: then all that was reserved counts as
    spent.
    """
    sums: dict[tuple[type[ProviderCall], int], list[Decimal]] = defaultdict(
        lambda: [Decimal(0), Decimal(0)]
    )
    for call, cost in ended:
        run_id = getattr(call, "run_id", None)
        if run_id is None:
            continue
        total = sums[type(call), run_id]
        total[0] += call.reserved_usd
        total[1] += call.reserved_usd if cost is None else cost
    for (calls, run_id), (reserved, spent) in sorted(sums.items(), key=lambda one: one[0][1]):
        if reserved or spent:
            run_rows(calls).filter(pk=run_id).update(
                reserved_usd=moved("reserved_usd", -reserved), spent_usd=moved("spent_usd", spent)
            )


def moved(column: str, usd: Decimal) -> Round:
    """Return the column with ``usd`` added, to the millionth.

    SQLite adds in binary: what is left of several sums that cancel could be a hair below nothing,
    which the table refuses.
    """
    return Round(F(column) + usd, precision=CENT_DIGITS)


@dataclass(frozen=True)
class CallRequest:
    """A claimed call that is about to be made: its row, what is asked, and how often at most."""

    call: ProviderCall
    request: llm.Request
    tries: int


@transaction.atomic
def reserve(requests: Sequence[CallRequest], *, now: dt.datetime) -> set[int]:
    """Reserve the most that these calls can cost; return the ids of those that may be made.

    The others wait again: for a run that has stood still since, or until calls in flight have
    given back what they did not need. A run is paused when its next call could cost more than is
    left even then.
    """
    runs = _budgeted_runs(requests)
    if runs is None or not runs.exists():
        return {one.call.pk for one in requests}
    mine = _lock_calls(requests)
    purses = {run.pk: _Purse(run) for run in runs.select_for_update(no_key=True)}
    admitted = {
        one.call.pk for one in requests if one.call.pk in mine and _is_admitted(one, purses, now)
    }
    calls = type(requests[0].call)._default_manager  # noqa: SLF001 (documented API)
    calls.bulk_update([one.call for one in requests if one.call.reserved_usd], ["reserved_usd"])
    calls.filter(pk__in=mine - admitted).update(state=CallState.PENDING, attempts=F("attempts") - 1)
    for purse in purses.values():
        runs.filter(pk=purse.run.pk).update(reserved_usd=moved("reserved_usd", purse.taken))
    return admitted


def _budgeted_runs(requests: Sequence[CallRequest]) -> QuerySet[Run] | None:
    """Return the runs whose money has to be watched, in the order in which they are locked."""
    numbers = {getattr(one.call, "run_id", None) for one in requests} - {None}
    if not numbers:
        return None
    return (
        run_rows(type(requests[0].call))
        .filter(pk__in=numbers, budget_usd__isnull=False)
        .order_by("pk")
    )


def _lock_calls(requests: Sequence[CallRequest]) -> set[int]:
    """Lock the claimed rows before their runs, as those who settle do; return which are held.

    One that somebody else holds is waited for: another worker who found it waiting a moment ago
    may hold it for as long as its own claim takes. Passed over, it would stay claimed by nobody.
    """
    calls = type(requests[0].call)._default_manager.filter(state=CallState.CLAIMED)  # noqa: SLF001
    rows = calls.filter(pk__in=[one.call.pk for one in requests]).order_by("pk").only("pk")
    return {row.pk for row in rows.select_for_update()}


@dataclass
class _Purse:
    """The money of a locked run."""

    run: Run
    taken: Decimal = Decimal(0)
    is_shut: bool = False

    def admits(self, one: CallRequest, now: dt.datetime) -> bool:
        """Reserve for a call, or say that it has to wait; calls behind it wait too."""
        if not self.is_shut and self.run.state == RunState.RUNNING:
            self.is_shut = not self._takes(one, now)
            return not self.is_shut
        return False

    def _takes(self, one: CallRequest, now: dt.datetime) -> bool:
        endpoint, left = _endpoint(one.call), self.budget - self.run.spent_usd
        if (price := price_at_most(endpoint)) is None:
            why = "it needs a price, and a limit of tokens that is sent"
            self._pause(f"Nobody says what {endpoint.slug} costs at most: {why}.", now)
            return False
        most = most_usd(one.request, price, tries=one.tries)
        if most > left:
            self._pause(f"The next call could cost {most} US dollars; {left} are left.", now)
            return False
        if self.taken + most > left - self.run.reserved_usd:
            return False  # until calls in flight have ended
        self.taken += most
        one.call.reserved_usd = most
        return True

    @property
    def budget(self) -> Decimal:
        """Return what may be spent in all."""
        return self.run.budget_usd or Decimal(0)

    def _pause(self, detail: str, now: dt.datetime) -> None:
        states.pause_if_running(self.run, PauseReason.BUDGET, detail, now=now)


def _is_admitted(one: CallRequest, purses: Mapping[int, _Purse], now: dt.datetime) -> bool:
    """Say whether a call may be made; without a run, or without a budget, it may."""
    purse = purses.get(getattr(one.call, "run_id", None) or 0)
    return purse is None or purse.admits(one, now)


def _endpoint(call: Any) -> ModelEndpoint:  # noqa: ANN401 (any kind of call)
    """Return the model that a call asks."""
    found: ModelEndpoint = getattr(call, endpoint_name(type(call)))
    return found
