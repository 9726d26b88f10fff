"""Raters who lease, answer and skip, for tests of what comes of it."""

import datetime as dt
from typing import Any

from annotation.choices import Protocol, Side
from annotation.judging import services
from annotation.models import Comparison, Judgment, Lease, Rater, Study
from annotation.studies.verdicts import Answer
from tests.factories import HOUR, NOW, make_comparison, make_lease, make_study

SECOND = dt.timedelta(seconds=1)
ANSWER = Answer(1, "It names the loss.")


def lease_next(rater: Rater, now: dt.datetime = NOW) -> Any:
    return services.lease_next_comparison(rater=rater, now=now)


def submit(
    lease: Lease,
    answer: Answer = ANSWER,
    *,
    now: dt.datetime = NOW + 40 * SECOND,
    hidden_ms: int = 0,
    rater: Rater | None = None,
) -> Judgment:
    return services.submit_judgment(
        rater=rater or lease.rater,
        submission=services.Submission(lease.token, answer, hidden_ms),
        now=now,
    )


def skip(lease: Lease, reason: str = "upsetting", now: dt.datetime = NOW) -> None:
    services.skip_comparison(token=lease.token, rater=lease.rater, reason=reason, now=now)


def judge_all(rater: Rater) -> list[Comparison]:
    """Answer whatever there is, and return the comparisons in the order they came."""
    seen = []
    while (lease := lease_next(rater)) is not None:
        seen.append(lease.comparison)
        submit(lease, now=NOW)
    return seen


def make_comparisons(study: Study, n: int) -> list[Comparison]:
    """Make comparisons of as many contexts, in the study's order."""
    return [make_comparison(study=study, position=place) for place in range(n)]


def make_open_lease(
    *,
    protocol: str = Protocol.PREFERENCE,
    first_side: str = Side.A,
    slots_left: int = 4,
    **fields: Any,
) -> Lease:
    """Lease a slot as the service does: the counters of the comparison agree with it."""
    study = make_study(protocol=protocol, **fields)
    comparison = make_comparison(
        study=study,
        slots_left=slots_left,
        shown_first_as_a=int(first_side == Side.A),
        shown_first_as_b=int(first_side == Side.B),
    )
    return make_lease(comparison=comparison, first_side=first_side)


def make_expired_lease(*, slots_left: int = 4, first_side: str = Side.A) -> Lease:
    """Lease a slot that is then given back; others left ``slots_left`` of them meanwhile."""
    lease = make_open_lease(first_side=first_side)
    services.release_expired_leases(now=NOW + HOUR)
    lease.comparison.slots_left = slots_left
    lease.comparison.save(update_fields=["slots_left"])
    return lease
