"""Decide which raters the analyses leave out, and take such decisions back; nothing is deleted."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Exclusion, Rater, Study
from annotation.quality import Finding

BY_HAND = "by-hand"
TAKEN_BACK = "taken-back"


class DecisionError(ValueError):
    """A decision cannot be made: it has no reason, or is what holds already."""


@dataclass(frozen=True)
class Examined:
    """What the rules say of one rater, and the newest decision that they knew of."""

    rater_id: int
    findings: Sequence[Finding]
    known_decision: int | None


@transaction.atomic
def exclude_by_rules(
    *, study: Study, examined: Sequence[Examined], now: dt.datetime
) -> list[Exclusion]:
    """Exclude the raters whom a rule that excludes has found, and return the decisions.

    There is one decision per rule. Raters who are excluded already are passed over, and so is
    everybody about whom somebody decided since the rules looked. So it is safe to repeat.
    """
    found = {one.rater_id: one for one in examined if _excluding(one)}
    raters = Rater.objects.select_for_update().filter(study=study, pk__in=found).order_by("pk")
    newest = {rater.pk: newest_decision(rater) for rater in raters}
    return [
        _exclude(rater_id, finding, now=now)
        for rater_id, decision in newest.items()
        if _may_exclude(decision, known=found[rater_id].known_decision)
        for finding in _excluding(found[rater_id])
    ]


@transaction.atomic
def exclude_rater(*, rater: Rater, reason: str, by: User, now: dt.datetime) -> Exclusion:
    """Leave a rater out because a person says so.

    Raises
    ------
    DecisionError
        If no reason is given, or the rater is excluded already.
    """
    return _decide(rater, is_excluded=True, reason=reason, by=by, now=now)


@transaction.atomic
def reinstate_rater(*, rater: Rater, reason: str, by: User, now: dt.datetime) -> Exclusion:
    """Take a rater back because a person says so; the rules then go by later evidence alone.

    Raises
    ------
    DecisionError
        If no reason is given, or the rater is not excluded.
    """
    return _decide(rater, is_excluded=False, reason=reason, by=by, now=now)


def newest_decision(rater: Rater) -> Exclusion | None:
    """Return the decision that holds."""
    return rater.exclusions.order_by("-decided_at", "-pk").first()


def _excluding(examined: Examined) -> list[Finding]:
    return [finding for finding in examined.findings if finding.is_exclusion]


def _may_exclude(newest: Exclusion | None, *, known: int | None) -> bool:
    if newest is None:
        return known is None
    return not newest.is_excluded and newest.pk == known


def _exclude(rater_id: int, finding: Finding, *, now: dt.datetime) -> Exclusion:
    return Exclusion.objects.create(
        rater_id=rater_id,
        is_excluded=True,
        rule=finding.rule,
        evidence=_evidence(finding),
        decided_at=now,
    )


def _evidence(finding: Finding) -> dict[str, object]:
    return {"value": finding.value, "threshold": finding.threshold, **finding.evidence}


def _decide(
    rater: Rater, *, is_excluded: bool, reason: str, by: User, now: dt.datetime
) -> Exclusion:
    rater = Rater.objects.select_for_update().get(pk=rater.pk)
    newest = newest_decision(rater)
    if not reason.strip():
        msg = "A decision needs a reason."
        raise DecisionError(msg)
    if (newest is not None and newest.is_excluded) == is_excluded:
        msg = "This rater is excluded already." if is_excluded else "This rater is not excluded."
        raise DecisionError(msg)
    return Exclusion.objects.create(
        rater=rater,
        is_excluded=is_excluded,
        rule=BY_HAND if is_excluded or newest is None else f"{TAKEN_BACK} {newest.rule}",
        evidence={} if is_excluded or newest is None else {"takes_back": newest.pk},
        reason=reason.strip(),
        decided_by=by,
        decided_at=now if newest is None else max(now, newest.decided_at),
    )
