"""The queue of messages: which are meant, a page of them, and what comes before and after one."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, QuerySet

from access.console.table_query import write_query
from completions.choices import MessageState, Stratum
from completions.contexts.queries import ListFilter, beginning
from completions.models import Dataset, Message, MessageRevision
from completions.writers.message_queries.rules import SIGNALS, signals_of

PER_PAGE = 25
ALL = "ALL"
"""How an address asks for messages in every state."""
STATES = tuple(state for state in MessageState if state != MessageState.TRIAL)
RARE = (MessageState.LAPSED, MessageState.ERASED)
"""States that are offered only when there are such messages."""


@dataclass(frozen=True)
class MessageFilter(ListFilter):
    """Which messages are meant; without a state, those that wait."""

    KNOWN: ClassVar = {"state": (ALL, *STATES), "signal": SIGNALS, "stratum": Stratum.values}

    state: str = ""
    signal: str = ""
    stratum: str = ""

    @property
    def rest(self) -> str:
        """The same without the state."""
        return write_query(asdict(replace(self, state="")))

    def matches_state(self, state: str) -> bool:
        """Say whether messages in that state are meant."""
        return self.state == ALL or state == (self.state or MessageState.WAITING)

    def matches(self, revision: MessageRevision) -> bool:
        """Say whether a message with this newest version is meant, whatever its state."""
        return not self.signal or self.signal in signals_of(revision)


@dataclass(frozen=True)
class MessageRow:
    """One message as the queue lists it."""

    pk: int
    begins: str
    state: str
    state_label: str
    signals: tuple[str, ...]
    is_adversarial: bool
    version: int
    n_decisions: int
    """How many decisions there are on all versions."""
    at: dt.datetime

    @classmethod
    def of(cls, revision: Any) -> "MessageRow":  # noqa: ANN401 (a row of `_newest`)
        """Leave out whoever wrote it."""
        message = revision.message
        return cls(
            pk=message.pk,
            begins=beginning(revision.text),
            state=message.state,
            state_label=str(MessageState(message.state).label),
            signals=tuple(str(SIGNALS[name]) for name in signals_of(revision)),
            is_adversarial=message.lease.context.stratum == Stratum.ADVERSARIAL,
            version=revision.number,
            n_decisions=revision.n_decisions,
            at=revision.written_at,
        )


@dataclass(frozen=True)
class QueuePlace:
    """Where a message stands in the queue; the rest are keys of messages, or None."""

    n_waiting: int
    previous: int | None
    next: int | None
    next_waiting: int | None
    """Where to go on once it is decided: what waits next, from the start again."""


def messages_of(dataset: Dataset) -> QuerySet[Message]:
    """Return the dataset's messages but those on trial, which are read with their writer."""
    of_dataset = Message.objects.filter(lease__context__dataset=dataset)
    return of_dataset.exclude(state=MessageState.TRIAL)


def message_of(dataset: Dataset, pk: int) -> Message | None:
    """Return the dataset's message of that key, or None."""
    return messages_of(dataset).filter(pk=pk).first()


def state_counts(dataset: Dataset) -> list[tuple[str, str, int]]:
    """Return each state with its label and number of messages, and all of them, in one query."""
    rows = messages_of(dataset).order_by().values_list("state").annotate(n=Count("pk"))
    counts = Counter(dict(rows))
    shown = [state for state in STATES if counts[state] or state not in RARE]
    return [(str(state), str(state.label), counts[state]) for state in shown]


def message_page(dataset: Dataset, filters: MessageFilter, *, page: str) -> Page[Any]:
    """Return a page of the messages that are meant, the oldest version first, in one query."""
    found = [one for one in _newest(dataset, filters) if filters.matches_state(one.message.state)]
    if filters.state == ALL:  # what waits comes first
        found.sort(key=lambda one: one.message.state != MessageState.WAITING)
    shown: Page[Any] = Paginator(found, PER_PAGE).get_page(page)
    shown.object_list = [MessageRow.of(one) for one in shown]
    return shown


def place_of(dataset: Dataset, filters: MessageFilter, *, pk: int) -> QueuePlace:
    """Say what stands before and after a message, in one query.

    Next and previous are such as the filter means; a decision leads on to what waits.
    """
    rows = [(one.message_id, one.message.state) for one in _newest(dataset, filters)]
    at = next((n for n, (key, _) in enumerate(rows) if key == pk), len(rows))
    before, after = rows[:at], rows[at + 1 :]
    waiting = [key for key, state in (*after, *before) if state == MessageState.WAITING]
    return QueuePlace(
        n_waiting=sum(state == MessageState.WAITING for _, state in rows),
        previous=next(reversed(_meant(filters, before)), None),
        next=next(iter(_meant(filters, after)), None),
        next_waiting=next(iter(waiting), None),
    )


def _meant(filters: MessageFilter, rows: Sequence[tuple[int, str]]) -> list[int]:
    return [key for key, state in rows if filters.matches_state(state)]


def _newest(dataset: Dataset, filters: MessageFilter) -> list[MessageRevision]:
    """Return newest versions with ``n_decisions`` of their messages; decisions keep the order."""
    later = MessageRevision.objects.filter(
        message=OuterRef("message"), number__gt=OuterRef("number")
    )
    newest = MessageRevision.objects.filter(~Exists(later), message__in=messages_of(dataset))
    rows = newest.annotate(n_decisions=Count("message__revisions__decisions"))
    if filters.stratum:
        rows = rows.filter(message__lease__context__stratum=filters.stratum)
    rows = rows.select_related("message__lease__context").order_by("written_at", "message_id")
    needed = ("text", "flags", "pastes", "has_looked_again", "number", "written_at")
    rows = rows.only(
        *needed, "message__state", "message__lease__context_id", "message__lease__context__stratum"
    )
    return [revision for revision in rows if filters.matches(revision)]
