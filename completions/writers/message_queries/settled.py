"""What freezing or thawing a dataset would come to."""

import datetime as dt
from dataclasses import dataclass

from completions.choices import MessageState
from completions.models import Completion, Dataset, Message, WritingLease


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
