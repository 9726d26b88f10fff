"""Reserve what calls can cost from the budget of their run, before they are made."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet

from completions import llm
from completions.choices import CallState, PauseReason, RunState
from completions.models import ProviderCall, Run
from completions.runs.queries import endpoint_name, run_rows
from completions.runs.services import budgeting, states


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
        runs.filter(pk=purse.run.pk).update(
            reserved_usd=budgeting.moved("reserved_usd", purse.taken)
        )
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
        if (price := budgeting.price_at_most(endpoint)) is None:
            why = "it needs a price, and a limit of tokens that is sent"
            self._pause(f"Nobody says what {endpoint.slug} costs at most: {why}.", now)
            return False
        most = budgeting.most_usd(one.request, price, tries=one.tries)
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


def _endpoint(call: Any) -> budgeting.Priced:  # noqa: ANN401 (any kind of call)
    """Return the model that a call asks."""
    found: budgeting.Priced = getattr(call, endpoint_name(type(call)))
    return found
