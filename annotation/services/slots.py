"""Lock raters and leases, and move slots between them and the comparisons (ADR-0005)."""

import datetime as dt
import uuid

from django.db.models import F, QuerySet

from annotation.choices import Side
from annotation.models import Comparison, Lease, Rater
from completions.choices import LeaseOutcome

SHOWN = {Side.A.value: "shown_first_as_a", Side.B.value: "shown_first_as_b"}


class LeaseNotFoundError(Exception):
    """The token is unknown or belongs to another rater."""


def lock_rater(rater: Rater) -> Rater:
    """Lock the rater's row, with the study read: one claim or answer at a time per person."""
    return Rater.objects.select_for_update(of=("self",)).select_related("study").get(pk=rater.pk)


def lock_lease(token: uuid.UUID, rater: Rater) -> Lease:
    """Lock the lease that the rater has with this token, open or closed.

    Raises
    ------
    LeaseNotFoundError
        If there is none.
    """
    lease = rater.leases.select_for_update().filter(token=token).first()
    if lease is None:
        raise LeaseNotFoundError
    return lease


def lock_open_lease(rater: Rater) -> Lease | None:
    """Lock the rater's open lease, if any; a sweep that is closing it is waited for first."""
    return rater.leases.select_for_update().filter(closed_at=None).first()


def take_slot(row: QuerySet[Comparison], *, side: str) -> bool:
    """Count one slot down and the side that it is shown on up; say whether there was a row."""
    shown = SHOWN[side]
    return row.update(**{"slots_left": F("slots_left") - 1, shown: F(shown) + 1}) > 0


def give_back(lease: Lease, *, outcome: LeaseOutcome, now: dt.datetime) -> None:
    """Close an open lease and return its slot to the comparison."""
    shown = SHOWN[lease.first_side]
    Comparison.objects.filter(pk=lease.comparison_id).update(
        **{"slots_left": F("slots_left") + 1, shown: F(shown) - 1}
    )
    close(lease, outcome=outcome, now=now)


def close(lease: Lease, *, outcome: LeaseOutcome, now: dt.datetime) -> None:
    """Close a lease; only a skipped one has a reason for that."""
    lease.closed_at = now
    lease.outcome = outcome
    if outcome != LeaseOutcome.SKIPPED:
        lease.skip_reason = ""
    lease.save(update_fields=["closed_at", "outcome", "skip_reason"])
