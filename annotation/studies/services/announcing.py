"""Tell webhooks what happens to studies: that one is full, that a rater reported something."""

import datetime as dt

from django.db import transaction
from django.db.models import F, Sum

from access.choices import HookEvent
from access.webhooks.services.events import Event, announce, is_awaited
from annotation.choices import Purpose, StudyState
from annotation.models import Comparison, Lease, Report, Study


def announce_full_studies(*, now: dt.datetime) -> int:
    """Tell of each open study of which every slot is judged; return for how many that is news.

    Two raters who give the last two answers at once each see the other's still open: so a tick
    looks. A study that is planned further, or gets slots back, is told of again when it is full
    again. Safe to run twice.
    """
    if not is_awaited(HookEvent.STUDY_FULL):
        return 0
    studies = Study.objects.filter(state=StudyState.OPEN).only("slug").order_by("pk")
    return sum(_announce_if_full(study, now) for study in studies)


@transaction.atomic
def _announce_if_full(study: Study, now: dt.datetime) -> bool:
    mains = Comparison.objects.filter(study=study, purpose=Purpose.MAIN)
    if mains.filter(slots_left__gt=0, held_at=None).exists() or _is_any_held(study):
        return False
    shown = F("shown_first_as_a") + F("shown_first_as_b")
    n = mains.aggregate(n=Sum(shown, default=0))["n"]
    if n == 0:  # nothing is planned, or nothing that people judge
        return False
    data = {"study": study.slug, "judged_slots": n}
    happening = Event(HookEvent.STUDY_FULL, f"study.full/{study.slug}/{n}", data)
    return announce(happening, now=now) > 0


def _is_any_held(study: Study) -> bool:
    """Say whether a rater has a slot in hand."""
    leases = Lease.objects.filter(rater__study=study, closed_at=None, quality_check=None)
    return leases.filter(repeats=None).exists()


def announce_report(report: Report, study: Study, *, now: dt.datetime) -> None:
    """Tell that a rater reported a dialogue: which one, and neither who nor in what words."""
    data = {"alert": "report.filed", "study": study.slug, "context": report.context.key}
    announce(Event(HookEvent.ALERT, f"report.filed/{report.pk}", data), now=now)
