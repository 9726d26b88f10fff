"""Providers that take no question of ours: told apart from failures that are about one text."""

import datetime as dt
import re
from typing import TypeVar

from django.db.models import QuerySet

from completions.choices import CallState, PauseReason
from completions.models import ProviderCall
from completions.runs.queries import calls_of, endpoint_name, run_rows
from completions.runs.services import states

KINDS = frozenset({"authentication", "configuration", "forbidden", "not_found", "payment"})
"""Failures of a key, a model's name or an account: every further call would fail alike."""
ENOUGH = 3
"""So many refusals of one model pause its run: one might be about its text."""
ABOUT_THE_TEXT = frozenset(
    {
        *("cancelled", "content_filtered", "empty", "erased", "finish_reason", "lost"),
        *("only_thoughts", "refused", "truncated", "unclear_text"),
    }
)
"""Failures that say something about one question; after others every question fails alike."""
BAD_REQUEST = "bad_request"
ERASED = "erased"
"""The text was deleted at its writer's wish: nobody is asked about it again."""
_LOOKED_AT = 20
_ID = re.compile(r"\b(?=\w*\d)[\w-]+")
_SHOWN = 300
"""Characters of a provider's own words in an error of ours."""

Call = TypeVar("Call", bound=ProviderCall)


class ProviderRefusesError(RuntimeError):
    """A provider takes no question of ours: a key, a model's name or an account is not right."""


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
    """Return calls that were given up to the waiting ones, as if they had never been tried."""
    return calls.filter(state__in=[CallState.FAILED, CallState.INVALID]).update(
        state=CallState.PENDING,
        claimed_at=None,
        ended_at=None,
        retry_at=None,
        attempts=0,
        error_kind="",
        error_detail="",
    )


def pause_if_refused(call: ProviderCall, kind: str, detail: str, *, now: dt.datetime) -> None:
    """Pause the run of a call that was just given up, once its model has refused enough of it.

    Bad requests count if the provider says the same of each: what it names is no text's fault.
    ``call`` is its row as it was; without a run, or for another kind of failure, nothing happens.
    """
    run_id = getattr(call, "run_id", None)
    if run_id is None or kind not in {*KINDS, BAD_REQUEST}:
        return
    column = f"{endpoint_name(type(call))}_id"
    run = run_rows(type(call)).get(pk=run_id)
    failed = calls_of(run).filter(state=CallState.FAILED, **{column: getattr(call, column)})
    if _n_alike(failed, kind, detail) < ENOUGH:
        return
    shown = f"{kind}: {' '.join(detail.split())}"[:_SHOWN]
    states.pause_if_running(states.lock(run), PauseReason.REFUSED, shown, now=now)


def _n_alike(failed: QuerySet[Call], kind: str, detail: str) -> int:
    """Count failures that say the same: of one account, or of one request in the same words."""
    if kind in KINDS:
        return failed.filter(error_kind__in=KINDS).count()
    details = failed.filter(error_kind=BAD_REQUEST).order_by("-ended_at")[:_LOOKED_AT]
    wanted = _bare(detail)
    return sum(_bare(one) == wanted for one in details.values_list("error_detail", flat=True))


def _bare(detail: str) -> str:
    """Return what a provider said without the ids and numbers that differ from call to call."""
    return _ID.sub("#", " ".join(detail.split()))
