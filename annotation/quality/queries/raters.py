"""Who rated in a study, and what was decided about them."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.choices import RaterState
from annotation.models import Exclusion, Judgment, Rater, Study
from annotation.quality.rules.records import Rules


@dataclass(frozen=True)
class Decision:
    """One decision on a rater; ``decided_by`` is empty when a rule decided."""

    pk: int
    is_excluded: bool
    rule: str
    evidence: Mapping[str, Any]
    reason: str
    decided_at: dt.datetime
    decided_by: str


@dataclass(frozen=True)
class RaterHead:
    """Who a rater is to the console: a pseudonym, with the decisions, oldest first."""

    pk: int
    code: str
    state: str
    state_label: str
    is_simulated: bool
    is_team: bool
    entered_at: dt.datetime
    decisions: tuple[Decision, ...]

    @property
    def decision(self) -> Decision | None:
        """Return the decision that holds: the newest."""
        return self.decisions[-1] if self.decisions else None

    @property
    def is_excluded(self) -> bool:
        """Whether the rater's answers are left out of the analysis."""
        return self.decision is not None and self.decision.is_excluded

    @property
    def reinstated_at(self) -> dt.datetime | None:
        """Return when a person took the rater back, if that still holds."""
        if self.decision is None or self.decision.is_excluded:
            return None
        return self.decision.decided_at


def rules_of(study: Study) -> Rules:
    """Return the rules that the study's locked protocol fixes, the defaults where it names none."""
    return Rules.of(study.content.get("exclusion", {}))


def raters_judged(study: Study, *, as_of: dt.datetime) -> tuple[RaterHead, ...]:
    """Return everybody who answered anything and whose data are kept, in two queries."""
    judged = Judgment.objects.filter(rater=OuterRef("pk"), submitted_at__lte=as_of)
    rows = kept_raters(study).filter(Exists(judged)).order_by("code")
    decisions = decisions_of(study, as_of=as_of)
    return tuple(_head(rater, decisions[rater.pk]) for rater in rows)


def decisions_of(study: Study, *, as_of: dt.datetime) -> dict[int, tuple[Decision, ...]]:
    """Return the decisions on each of the study's raters as of a time, oldest first."""
    found = defaultdict[int, tuple[Decision, ...]](tuple)
    rows = Exclusion.objects.filter(rater__study=study, decided_at__lte=as_of)
    for row in rows.select_related("decided_by").order_by("decided_at", "pk"):
        if row.rater_id is not None:
            found[row.rater_id] += (_decision(row),)
    return found


def recently_judged(*, since: dt.datetime) -> QuerySet[Study]:
    """Return the studies in which a person answered anything since then."""
    judged = Judgment.objects.filter(
        comparison__study=OuterRef("pk"), rater__isnull=False, submitted_at__gte=since
    )
    return Study.objects.filter(Exists(judged)).order_by("pk")


def kept_raters(study: Study) -> QuerySet[Rater]:
    """Return the study's raters without those whose answers never count.

    These are who withdrew together with their answers, and simulated ones of a real study.
    """
    return (
        Rater.objects.filter(study=study)
        .exclude(state=RaterState.WITHDRAWN, data_kept=False)
        .exclude(is_simulated=True, study__is_simulated=False)
    )


def _head(rater: Rater, decisions: tuple[Decision, ...]) -> RaterHead:
    return RaterHead(
        pk=rater.pk,
        code=rater.code,
        state=rater.state,
        state_label=RaterState(rater.state).label,
        is_simulated=rater.is_simulated,
        is_team=rater.is_team,
        entered_at=rater.entered_at,
        decisions=decisions,
    )


def _decision(row: Exclusion) -> Decision:
    return Decision(
        pk=row.pk,
        is_excluded=row.is_excluded,
        rule=row.rule,
        evidence=row.evidence,
        reason=row.reason,
        decided_at=row.decided_at,
        decided_by=row.decided_by.get_username() if row.decided_by else "",
    )
