"""Reads of the console's pages on the people who write."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from access.console.tables import Table
from completions.choices import MessageState, Review, WriterState
from completions.dialogues.queries import n_of_dataset
from completions.models import Completion, Context, Dataset, Message, Writer

LINKLESS = (WriterState.WITHDRAWN, WriterState.ELSEWHERE)
TRIED = Q(leases__is_trial=True, leases__closed_at__isnull=False)
"""As ``queries.trial_of`` counts: a trial dialogue that was given back never comes back."""
IN_USE = Q(leases__message__completion__erased_at=None)


WRITERS = Table(
    orders={
        "code": (_("Writer"), lambda row: row.code),
        "state": (_("State"), lambda row: row.get_state_display()),
        "background": (_("Background"), lambda row: row.get_background_display() or None),
        "trial": (_("On trial"), lambda row: row.n_trial),
        "sent": (_("Sent"), lambda row: row.n_sent),
        "accepted": (_("Accepted"), lambda row: row.n_accepted),
        "waiting": (_("Waiting"), lambda row: row.n_waiting),
        "returned": (_("Sent back"), lambda row: row.n_returned),
        "active": (_("Last active"), lambda row: row.last_active),
    },
    usual="code",
    choices={"state": (dict(WriterState.choices), lambda row, state: row.state == state)},
    searched=("code",),
    numbers=("trial", "sent", "accepted", "waiting", "returned"),
)


def dataset_rows() -> QuerySet[Dataset]:
    """Return every dataset with the counts of its pool, in one query."""
    written = Completion.objects.filter(writer__isnull=False, erased_at=None)
    rows = Dataset.objects.filter(is_for_checks=False).annotate(
        n_writers=n_of_dataset(Writer.objects.filter(state=WriterState.ACTIVE), "dataset"),
        n_waiting=n_of_dataset(
            Message.objects.filter(state=MessageState.WAITING), "lease__writer__dataset"
        ),
        n_accepted=n_of_dataset(
            written.exclude(context__review=Review.DROPPED), "context__dataset"
        ),
        n_contexts=n_of_dataset(Context.objects.in_use(), "dataset"),
    )
    n_wanted = F("n_contexts") * F("completions_per_context")
    return rows.annotate(n_wanted=n_wanted).order_by("name", "pk")


def writer_rows(dataset: Dataset, *, code: str = "") -> list[Any]:
    """Return every writer of the pool, or the one of that pseudonym, in three queries.

    Each has counts of their messages, those on trial apart from all others; ``is_to_decide`` if
    the trial is over and somebody is to read it; and ``last_active``, the day on which they last
    took a dialogue or sent a message. No time: beside that of a message it would tell who wrote it.
    """
    people = dataset.writers.filter(code=code) if code else dataset.writers.all()
    active_on = _active_on(people)
    n_dialogues = Context.objects.filter(dataset__vetted_datasets=dataset).count()
    counted = people.annotate(
        n_messages=Count("leases__message"),
        n_accepted=Count("leases__message__completion", filter=IN_USE),
        n_trial=_in_state(MessageState.TRIAL),
        n_sent=F("n_messages") - F("n_trial"),
        n_waiting=_in_state(MessageState.WAITING),
        n_returned=_in_state(MessageState.RETURNED),
        n_tried=Count("leases", filter=TRIED),
    )
    writers: list[Any] = list(counted.order_by("code"))
    for writer in writers:
        is_over = writer.n_trial > 0 and writer.n_tried >= n_dialogues
        writer.is_to_decide = writer.state == WriterState.VETTING and is_over
        writer.last_active = active_on.get(writer.pk)
    return writers


def writer_of(dataset: Dataset, code: str) -> Writer | None:
    """Return the dataset's writer of that pseudonym, or None."""
    return dataset.writers.select_related("dataset__vetting").filter(code=code).first()


def linked_writers(dataset: Dataset) -> QuerySet[Writer]:
    """Return whoever has a personal link."""
    return dataset.writers.exclude(state__in=LINKLESS).order_by("code")


def n_known(dataset: Dataset, emails: Sequence[str]) -> int:
    """Return how many of the addresses the pool has already."""
    return dataset.writers.filter(email__in=emails).count()


def n_in_state(rows: Iterable[Writer]) -> list[tuple[str, str, int]]:
    """Return each state that somebody is in, with its label and how many are."""
    counted = Counter(row.state for row in rows)
    return [
        (state.value, str(state.label), counted[state.value])
        for state in WriterState
        if counted[state.value]
    ]


def _in_state(state: str) -> Count:
    return Count("leases__message", filter=Q(leases__message__state=state))


def _active_on(people: QuerySet[Writer]) -> dict[int, dt.date | None]:
    """Return the day on which each last took a dialogue or sent a message, in one query."""
    times = people.order_by().annotate(
        taken_at=Max("leases__issued_at"), sent_at=Max("leases__message__revisions__written_at")
    )
    return {
        pk: max((at.date() for at in both if at), default=None)
        for pk, *both in times.values_list("pk", "taken_at", "sent_at")
    }
