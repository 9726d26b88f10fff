"""What becomes of a rewrite that cannot go on as it is."""

import datetime as dt

from django.db.models import QuerySet

from completions.choices import CallState, Review, RewriteStep
from completions.contexts.services.rewriting.rows import Assistants, drop
from completions.models import Dataset, Rewrite, RewriteCall
from completions.runs.services import refusing

ROLES = {
    RewriteStep.WRITE: ("rewriter", "hostility_rater"),
    RewriteStep.RATE: ("hostility_rater",),
}
"""Whom a step asks, and who comes after."""


def take_up_refused(dataset: Dataset, assistants: Assistants) -> None:
    """Have what a provider refused asked again, by the assistants that are asked now.

    A text is written and rated by whom its rewrite names: only who is still to answer changes.
    """
    for call in _refused(dataset, assistants):
        roles = ROLES[RewriteStep(call.step)]
        asked_now = {role: getattr(assistants, role) for role in roles}
        Rewrite.objects.filter(pk=call.rewrite_id).update(**asked_now)
        refusing.ask_again(RewriteCall.objects.filter(pk=call.pk))


def settle(dataset: Dataset, assistants: Assistants, now: dt.datetime) -> None:
    """Drop the rewrites that cannot go on: a call failed for good, or a person dropped the source.

    Raises
    ------
    ProviderRefusesError
        If a provider takes no question, whatever it is about: that uses up no source.
    """
    for rewrite in assistants.under_way(dataset).filter(source_context__review=Review.DROPPED):
        drop(rewrite, "Its source was dropped in review.", now)
    refused = _refused(dataset, assistants)
    failed = _failed(dataset, assistants).exclude(pk__in=[call.pk for call in refused])
    for call in failed:
        drop(call.rewrite, f"The provider failed: {call.error_kind}.", now)
    if refused:
        raise refusing.refusal(refused[0])


def _failed(dataset: Dataset, assistants: Assistants) -> QuerySet[RewriteCall]:
    failed = assistants.calls(dataset).filter(state=CallState.FAILED)
    return failed.select_related("rewrite").order_by("pk")


def _refused(dataset: Dataset, assistants: Assistants) -> list[RewriteCall]:
    """Return the failed calls that would have failed with any other dialogue."""
    return [
        call
        for call in _failed(dataset, assistants)
        if refusing.refused(_to_the_same(call)).filter(pk=call.pk).exists()
    ]


def _to_the_same(call: RewriteCall) -> QuerySet[RewriteCall]:
    """Return all calls of this step to the same model."""
    role, *_ = ROLES[RewriteStep(call.step)]
    who = {f"rewrite__{role}": getattr(call.rewrite, f"{role}_id")}
    return RewriteCall.objects.filter(step=call.step, **who)
