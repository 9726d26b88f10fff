"""Decide which raters the analyses leave out, and take such decisions back; nothing is deleted."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from access import log
from access.nudges import Work, nudge
from annotation.models import Exclusion, Rater, Study
from annotation.quality.rules.records import Finding

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
    *, study: Study, examined: Sequence[Examined], now: dt.datetime, by: User | None = None
) -> list[Exclusion]:
    """Exclude the raters whom a rule that excludes has found, and return the decisions.

    There is one decision per rule; ``by`` is who had the rules applied, if anybody. Raters who
    are excluded already are passed over, and so is everybody about whom somebody decided since
    the rules looked. So it is safe to repeat.
    """
    found = {one.rater_id: one for one in examined if _excluding(one)}
    raters = Rater.objects.select_for_update().filter(study=study, pk__in=found).order_by("pk")
    newest = {rater: newest_decision(rater) for rater in raters}
    return [
        _store(_by_rule(rater, finding, by), after=decision, now=now)
        for rater, decision in newest.items()
        if _may_exclude(decision, known=found[rater.pk].known_decision)
        for finding in _excluding(found[rater.pk])
    ]


def newest_decision(rater: Rater) -> Exclusion | None:
    """Return the decision that holds."""
    return rater.exclusions.order_by("-decided_at", "-pk").first()


def _excluding(examined: Examined) -> list[Finding]:
    return [finding for finding in examined.findings if finding.is_exclusion]


def _may_exclude(newest: Exclusion | None, *, known: int | None) -> bool:
    if newest is None:
        return known is None
    return not newest.is_excluded and newest.pk == known


def _by_rule(rater: Rater, finding: Finding, by: User | None) -> Exclusion:
    return Exclusion(
        rater=rater,
        is_excluded=True,
        rule=finding.rule,
        evidence={"value": finding.value, "threshold": finding.threshold, **finding.evidence},
        decided_by=by,
    )


@transaction.atomic
def _decide(
    *, rater: Rater, is_excluded: bool, reason: str, by: User, now: dt.datetime
) -> Exclusion:
    """Store what a person says of a rater.

    Raises
    ------
    DecisionError
        If no reason is given, or it is what holds already.
    """
    rater = Rater.objects.select_for_update().get(pk=rater.pk)
    newest = newest_decision(rater)
    if not reason.strip():
        msg = _("A decision needs a reason.")
        raise DecisionError(msg)
    if (newest is not None and newest.is_excluded) == is_excluded:
        msg = _("This rater is excluded already.") if is_excluded else _("This rater is not out.")
        raise DecisionError(msg)
    takes_back = newest if not is_excluded else None
    decision = Exclusion(
        rater=rater,
        is_excluded=is_excluded,
        rule=f"{TAKEN_BACK} {takes_back.rule}" if takes_back else BY_HAND,
        evidence={"takes_back": takes_back.pk} if takes_back else {},
        reason=reason.strip(),
        decided_by=by,
    )
    return _store(decision, after=newest, now=now)


exclude_rater = partial(_decide, is_excluded=True)
"""Leave a rater out because a person says so."""
reinstate_rater = partial(_decide, is_excluded=False)
"""Take a rater back because a person says so; the rules then go by later evidence alone."""


def _store(decision: Exclusion, *, after: Exclusion | None, now: dt.datetime) -> Exclusion:
    """Store a decision, never dated before the one it follows, and put it into the log."""
    decision.decided_at = max(now, after.decided_at) if after else now
    decision.save(force_insert=True)
    log.record(
        action="rater.excluded" if decision.is_excluded else "rater.reinstated",
        subject=f"rater {decision.rater}",
        now=now,
        by=decision.decided_by,
        after={"rule": decision.rule, "reason": decision.reason},
    )
    nudge(Work.REFIT)
    return decision
