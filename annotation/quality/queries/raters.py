"""Who rated in a study, and what was decided about them."""

import datetime as dt
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from annotation.choices import RaterState
from annotation.models import Exclusion, Judgment, Rater, Study
from annotation.quality.rules.records import Rules


def rules_of(study: Study) -> Rules:
    """Return the rules that the study's locked protocol fixes, the defaults where it names none."""
    return Rules.of(study.content.get("exclusion", {}))


def raters_judged(study: Study, *, as_of: dt.datetime) -> tuple[Rater, ...]:
    """Return everybody who answered anything and whose data are kept, in two queries."""
    judged = Judgment.objects.filter(rater=OuterRef("pk"), submitted_at__lte=as_of)
    rows = kept_raters(study).filter(Exists(judged)).order_by("code")
    return tuple(rows.prefetch_related(decisions(as_of=as_of)))


def decisions(path: str = "exclusions", *, as_of: dt.datetime) -> "Prefetch[Any]":
    """Return how to read the decisions on raters as of a time with them, oldest first."""
    made = Exclusion.objects.filter(decided_at__lte=as_of).select_related("decided_by")
    return Prefetch(path, made.order_by("decided_at", "pk"))


def decision_on(rater: Rater) -> Exclusion | None:
    """Return the decision that holds, the newest, of a rater read with `decisions`."""
    made = list(rater.exclusions.all())
    return made[-1] if made else None


def is_excluded(rater: Rater) -> bool:
    """Say whether the answers of a rater read with `decisions` are left out of the analysis."""
    newest = decision_on(rater)
    return newest is not None and newest.is_excluded


def reinstated_at(rater: Rater) -> dt.datetime | None:
    """Return when a person took back a rater read with `decisions`, if that still holds."""
    newest = decision_on(rater)
    return None if newest is None or newest.is_excluded else newest.decided_at


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
