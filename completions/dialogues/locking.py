"""Fix the texts of people that are compared or labelled (ADR-0035)."""

import datetime as dt

from django.db.models import QuerySet

from completions.choices import MessageState
from completions.models import Completion, Dataset, Message


class CompletionFixedError(Exception):
    """A study compares the completion, or it is labelled, so its text stays as it is."""


def lock_texts(dataset_id: int) -> Dataset:
    """Hold the right to change texts of people in a dataset, or to choose what is fixed.

    Whoever plans sees no text change meanwhile. Take it after a writer's row, and before those of
    messages, completions and contexts: one order, so no deadlock.
    """
    # no_key, so that rows of the dataset are stored meanwhile.
    return Dataset.objects.select_for_update(no_key=True).get(pk=dataset_id)


def lock_sent_back(dataset_id: int) -> None:
    """Lock messages that were sent back while an older text of theirs is in use.

    For whoever plans, under ``lock_texts``, and before any row about a completion is stored:
    somebody who withdraws holds messages first and completions then.
    """
    rows = Message.objects.filter(
        state=MessageState.RETURNED,
        completion__isnull=False,
        lease__context__dataset=dataset_id,
    )
    list(rows.order_by("pk").select_for_update(of=("self",)).values_list("pk"))


def fix_completions(*, texts: QuerySet[Completion], now: dt.datetime) -> int:
    """Fix those that people wrote, for good; return how many were not fixed before.

    A message that had come back to its writer for another version counts as accepted again: the
    text in use stays, so there is nothing to mend. Call it in the transaction that plans
    comparisons or labels, under ``lock_texts`` and ``lock_sent_back``.
    """
    sent_back = Message.objects.filter(state=MessageState.RETURNED, completion__in=texts)
    sent_back.update(state=MessageState.ACCEPTED, changed_at=now)
    of_people = texts.filter(writer__isnull=False, fixed_at__isnull=True)
    return of_people.update(fixed_at=now)


def lock_unfixed(completion_id: int) -> Completion:
    """Lock a completion whose text is about to change.

    Raises
    ------
    CompletionFixedError
        If its text is fixed.
    """
    completion = Completion.objects.select_for_update(of=("self",)).get(pk=completion_id)
    if completion.fixed_at is not None:
        raise CompletionFixedError
    return completion
