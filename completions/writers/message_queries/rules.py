"""What may be decided about a message, what hints at a look, and what freezing would change."""

import datetime as dt
import enum
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from completions.choices import MessageState, MessageVerdict, WriterState
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


@dataclass(frozen=True)
class Settled:
    """How far the texts of a dataset are settled; open claims are of people who write now."""

    frozen_at: dt.datetime | None
    n_open: int
    n_waiting: int
    n_returned: int
    n_fixed: int


def settled(dataset: Dataset) -> Settled:
    """Count what freezing and thawing are about, in four queries."""
    messages = Message.objects.filter(lease__context__dataset=dataset)
    held = WritingLease.objects.filter(writer__dataset=dataset, closed_at=None, is_trial=False)
    fixed = Completion.objects.filter(context__dataset=dataset, writer__isnull=False)
    return Settled(
        frozen_at=dataset.frozen_at,
        n_open=held.count(),
        n_waiting=messages.filter(state=MessageState.WAITING).count(),
        n_returned=messages.filter(state=MessageState.RETURNED).count(),
        n_fixed=fixed.exclude(fixed_at=None).count(),
    )


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
