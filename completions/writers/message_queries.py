"""Messages for their reviewers: what may be decided, what hints at a look, and the queue.

Nothing here tells who wrote them.
"""

import enum
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from access.console.tables import write_query
from completions.choices import MessageState, MessageVerdict, Stratum, WriterState
from completions.contexts.queries import ListFilter, beginning
from completions.dialogues import wording
from completions.models import Completion, Dataset, Message, MessageRevision, Writer, WritingLease

ALLOWED: Mapping[str, frozenset[MessageVerdict]] = {
    MessageState.WAITING: frozenset(MessageVerdict),
    MessageState.RETURNED: frozenset((MessageVerdict.ACCEPTED, MessageVerdict.REJECTED)),
    MessageState.ACCEPTED: frozenset((MessageVerdict.RETURNED, MessageVerdict.REJECTED)),
}
"""What may be decided in which state; elsewhere nothing."""
GONE = (WriterState.LEFT, WriterState.WITHDRAWN, WriterState.ELSEWHERE)
"""Writers who receive nothing that is sent back."""


class Obstacle(enum.Enum):
    """Why a decision is not possible."""

    CLOSED = "closed"
    GONE = "gone"
    FIXED = "fixed"
    FROZEN = "frozen"


REASONS: Mapping[Obstacle, str | Promise] = {
    Obstacle.CLOSED: _("This cannot be decided about a message in this state."),
    Obstacle.GONE: _("It cannot be sent back: nobody is there any more who would receive it."),
    Obstacle.FIXED: _("The accepted text is compared or labelled, so it stays as it is."),
    Obstacle.FROZEN: _("The texts of this dataset are frozen: none is changed or sent back."),
}
"""How a reviewer is told."""


@dataclass(frozen=True)
class Situation:
    """All that it depends on what may be decided about a message."""

    state: str
    has_completion: bool
    is_fixed: bool
    is_frozen: bool
    is_gone: bool

    @classmethod
    def of(cls, message: Message, *, writer: Writer, dataset: Dataset) -> "Situation":
        """Read it off the rows."""
        completion = message.completion
        return cls(
            state=message.state,
            has_completion=completion is not None,
            is_fixed=completion is not None and completion.fixed_at is not None,
            is_frozen=dataset.frozen_at is not None,
            is_gone=writer.state in GONE,
        )

    @property
    def has_old_text(self) -> bool:
        """Whether a text was accepted before the version that is decided on."""
        return self.has_completion and self.state != MessageState.ACCEPTED


def obstacle(verdict: MessageVerdict, of: Situation) -> Obstacle | None:
    """Return what stands against a decision, or None."""
    if verdict not in ALLOWED.get(of.state, ()):
        return Obstacle.CLOSED
    if verdict == MessageVerdict.RETURNED and of.is_gone:
        return Obstacle.GONE
    if not _touches_a_text(verdict, of):
        return None
    if of.is_fixed:
        return Obstacle.FIXED
    return Obstacle.FROZEN if of.is_frozen else None


def _touches_a_text(verdict: MessageVerdict, of: Situation) -> bool:
    """Say whether a text that was accepted is changed or goes, or its writer is asked to."""
    if verdict == MessageVerdict.ACCEPTED:
        return of.has_completion
    return verdict == MessageVerdict.RETURNED or of.state == MessageState.ACCEPTED


def settled(dataset: Dataset) -> dict[str, int]:
    """Count what freezing and thawing are about; open claims are of people who write now."""
    messages = Message.objects.filter(lease__context__dataset=dataset)
    held = WritingLease.objects.filter(writer__dataset=dataset, closed_at=None, is_trial=False)
    fixed = Completion.objects.filter(context__dataset=dataset, writer__isnull=False)
    states = {"n_waiting": MessageState.WAITING, "n_returned": MessageState.RETURNED}
    counts = {name: Count("pk", filter=Q(state=state)) for name, state in states.items()}
    return {
        "n_open": held.count(),
        "n_fixed": fixed.exclude(fixed_at=None).count(),
        **messages.aggregate(**counts),
    }


FLAGGED, COPY, PASTED = "flagged", "copy", "pasted"
SECOND_LOOK, LONG, SHORT = "second-look", "long", "short"
SIGNALS: Mapping[str, str | Promise] = {
    FLAGGED: _("flagged"),
    COPY: _("near copy"),
    PASTED: _("pasted"),
    SECOND_LOOK: _("second look"),
    LONG: _("long"),
    SHORT: _("short"),
}
"""The signals by which the queue is filtered, in the order in which they are shown."""

LONG_WORDS = 60
"""Above so many words a message is called long, to its writer as well."""
SHORT_WORDS = 8


def signals_of(revision: MessageRevision) -> tuple[str, ...]:
    """Return the signals of a version, in their order."""
    n_words = wording.count_words(revision.text)
    found = {
        FLAGGED: any(not is_copy(flag) for flag in revision.flags),
        COPY: any(is_copy(flag) for flag in revision.flags),
        PASTED: revision.pastes > 0,
        SECOND_LOOK: revision.has_looked_again,
        LONG: n_words > LONG_WORDS,
        SHORT: 0 < n_words < SHORT_WORDS,
    }
    return tuple(name for name, is_so in found.items() if is_so)


def is_copy(flag: Mapping[str, object]) -> bool:
    """Say whether a flag is about another text that this one is like."""
    return flag["kind"] == "near-duplicate"


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
    """Return a page of the messages that are meant, the oldest version first, in two queries.

    Each is its newest version, with ``n_decisions`` of its message, how its text begins and its
    signals.
    """
    found = [one for one in _newest(dataset, filters) if filters.matches_state(one[-1])]
    if filters.state == ALL:  # what waits comes first
        found.sort(key=lambda one: one[-1] != MessageState.WAITING)
    shown: Page[Any] = Paginator(found, PER_PAGE).get_page(page)
    counted = MessageRevision.objects.annotate(n_decisions=Count("message__revisions__decisions"))
    rows = counted.select_related("message__lease__context").in_bulk([pk for pk, *_ in shown])
    shown.object_list = [
        (row, beginning(row.text), [SIGNALS[name] for name in signals_of(row)])
        for row in (rows[pk] for pk, *_ in shown)
    ]
    return shown


def place_of(dataset: Dataset, filters: MessageFilter, *, pk: int) -> dict[str, int | None]:
    """Say what stands before and after a message, by its key or None, in one query.

    ``next`` and ``previous`` are such as the filter means; ``next_waiting`` is where to go on once
    the message is decided: what waits next, from the start again.
    """
    rows = [(key, state) for _version, key, state in _newest(dataset, filters)]
    at = next((n for n, (key, _state) in enumerate(rows) if key == pk), len(rows))
    before, after = rows[:at], rows[at + 1 :]
    waiting = [key for key, state in (*after, *before) if state == MessageState.WAITING]
    return {
        "n_waiting": sum(state == MessageState.WAITING for _key, state in rows),
        "previous": next(reversed(_meant(filters, before)), None),
        "next": next(iter(_meant(filters, after)), None),
        "next_waiting": next(iter(waiting), None),
    }


def _meant(filters: MessageFilter, rows: Sequence[tuple[int, str]]) -> list[int]:
    return [key for key, state in rows if filters.matches_state(state)]


def _newest(dataset: Dataset, filters: MessageFilter) -> list[tuple[int, int, str]]:
    """Return each newest version, its message and state; decisions keep the order.

    Texts are read only where a signal is asked for: there may be tens of thousands.
    """
    later = MessageRevision.objects.filter(
        message=OuterRef("message"), number__gt=OuterRef("number")
    )
    rows = MessageRevision.objects.filter(~Exists(later), message__in=messages_of(dataset))
    rows = rows.order_by("written_at", "message_id")
    if filters.stratum:
        rows = rows.filter(message__lease__context__stratum=filters.stratum)
    if not filters.signal:
        return list(rows.values_list("pk", "message", "message__state"))
    needed = ("text", "flags", "pastes", "has_looked_again", "message__state")
    return [
        (one.pk, one.message_id, one.message.state)
        for one in rows.select_related("message").only(*needed)
        if filters.signal in signals_of(one)
    ]
