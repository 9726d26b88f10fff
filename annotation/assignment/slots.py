"""Lock raters and leases, and move slots between them and the comparisons (ADR-0005)."""

import datetime as dt
import uuid

from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.expressions import CombinedExpression

from annotation.choices import Side
from annotation.models import Comparison, Exclusion, Lease, Rater
from annotation.studies import queries as study_queries
from completions.choices import LeaseOutcome
from completions.leases import timed
from completions.leases.compiled import Change, Compiled, CompiledUpdate

SHOWN = {Side.A.value: "shown_first_as_a", Side.B.value: "shown_first_as_b"}


class LeaseNotFoundError(Exception):
    """The token is unknown or belongs to another rater."""


def lock_rater(rater: Rater) -> Rater:
    """Lock the rater's row, with the study read: one claim or answer at a time per person."""
    return (
        Rater.objects.select_for_update(of=("self",))
        .select_related("study")
        .defer("study__content")  # long, and known already: see study_queries.content_of
        .annotate(newest_decision=_newest_decision("pk"))
        .get(pk=rater.pk)
    )


def is_excluded(row: Rater | Lease) -> bool:
    """Say whether the newest decision on the rater of a locked row is an exclusion."""
    return bool(getattr(row, "newest_decision", None))


def _newest_decision(rater: str) -> Subquery:
    decisions = Exclusion.objects.filter(rater=OuterRef(rater)).order_by("-decided_at", "-pk")
    return Subquery(decisions.values("is_excluded")[:1])


def _lease_and_rater(
    *, token: uuid.UUID, study: str, code: str, link_version: int
) -> QuerySet[Lease]:
    return (
        Lease.objects.select_for_update(of=("rater", "self"))
        .select_related("comparison", "rater__study")
        .defer("rater__study__content")
        .annotate(newest_decision=_newest_decision("rater"))
        .filter(
            token=token,
            rater__study__slug=study,
            rater__code=code,
            rater__link_version=link_version,
        )
    )


LEASE_AND_RATER = Compiled(_lease_and_rater, token=uuid.UUID, study=str, code=str, link_version=int)


def lock_lease_and_rater(token: uuid.UUID, *, study: str, code: str, link_version: int) -> Lease:
    """Lock a rater and their lease of this token in one query, in that order.

    PostgreSQL locks the rows in the order in which ``of`` names them, so this cannot meet
    ``lock_rater`` and ``lock_lease`` head-on.

    Raises
    ------
    LeaseNotFoundError
        If the rater is unknown or has no such lease.
    """
    lease = LEASE_AND_RATER.first(token=token, study=study, code=code, link_version=link_version)
    if lease is None:
        raise LeaseNotFoundError
    return lease


def lock_lease(token: uuid.UUID, rater: Rater) -> Lease:
    """Lock the lease that the rater has with this token, open or closed.

    Raises
    ------
    LeaseNotFoundError
        If there is none.
    """
    lease = _leases_to_lock(rater).filter(token=token).first()
    if lease is None:
        raise LeaseNotFoundError
    return lease


def lock_newest_lease(rater: Rater) -> Lease | None:
    """Lock the rater's newest lease, open or closed, with all that its screen needs."""
    leases = study_queries.with_texts(_leases_to_lock(rater), "comparison__")
    newest = leases.order_by("-number").first()
    if newest is not None:
        newest.rater = rater
    return newest


def _leases_to_lock(rater: Rater) -> QuerySet[Lease]:
    leases = Lease.objects.filter(rater=rater).select_related("comparison")
    return leases.select_for_update(of=("self",))


def resume(lease: Lease, *, now: dt.datetime) -> None:
    """End the break that the rater of a locked lease is on, if any, and add its time up."""
    if lease.paused_at is not None:
        lease.paused_ms += max(0, int((now - lease.paused_at).total_seconds() * 1000))
        lease.paused_at = None
        lease.save(update_fields=["paused_at", "paused_ms"])


def slot_taken(comparison_id: int, *, side: str, fewest: int = 0) -> Change:
    """Return the change that counts one slot of a row down, and the side that it is shown on up.

    It finds no row where fewer slots than ``fewest`` are left.
    """
    return TAKING[side].change(comparison=comparison_id, fewest=fewest)


def _taking(shown: str) -> CompiledUpdate:
    def taken(
        *, comparison: int, fewest: int
    ) -> tuple[QuerySet[Comparison], dict[str, CombinedExpression]]:
        rows = Comparison.objects.filter(pk=comparison, slots_left__gte=fewest)
        return rows, {"slots_left": F("slots_left") - 1, shown: F(shown) + 1}

    return CompiledUpdate(taken, comparison=int, fewest=int)


TAKING = {side: _taking(shown) for side, shown in SHOWN.items()}


def return_slot(comparison_id: int, *, side: str) -> None:
    """Count one slot up again, and the side that it was shown on down."""
    shown = SHOWN[side]
    Comparison.objects.filter(pk=comparison_id).update(
        **{"slots_left": F("slots_left") + 1, shown: F(shown) - 1}
    )


def give_back(lease: Lease, *, outcome: LeaseOutcome, now: dt.datetime) -> None:
    """Close an open lease and return its slot, if it holds one, to the comparison."""
    if lease.is_main:
        return_slot(lease.comparison_id, side=lease.first_side)
    timed.closing(lease, outcome=outcome, now=now).make()
