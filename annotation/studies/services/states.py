"""Lock, open, pause and close studies, and tell webhooks what happens to open ones."""

import datetime as dt

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Sum

from access.choices import HookEvent
from access.log import record
from access.nudges import Work, nudge
from access.webhooks.services import Event, announce, is_awaited
from annotation.choices import Purpose, StudyState
from annotation.models import Comparison, Report, Study
from annotation.studies.queries import slots_in_hand
from completions.files.toml import content_hash

ALLOWED = {
    StudyState.DRAFT: {StudyState.LOCKED, StudyState.OPEN},
    StudyState.LOCKED: {StudyState.OPEN, StudyState.CLOSED},
    StudyState.OPEN: {StudyState.PAUSED, StudyState.CLOSED},
    StudyState.PAUSED: {StudyState.OPEN, StudyState.CLOSED},
    StudyState.CLOSED: set[StudyState](),
}
VERBS = {
    StudyState.LOCKED: "locked",
    StudyState.OPEN: "opened",
    StudyState.PAUSED: "paused",
    StudyState.CLOSED: "closed",
}


class StudyStateError(Exception):
    """The study cannot go from its state to the one asked for."""


def lock_study(*, study: Study, now: dt.datetime, by: User | None = None) -> Study:
    """Freeze the study under the hash of its content: from now on only its state changes."""
    return _move(study, StudyState.LOCKED, now=now, by=by)


def open_study(*, study: Study, now: dt.datetime, by: User | None = None) -> Study:
    """Let raters in; the first opening of a draft locks it on the way."""
    return _move(study, StudyState.OPEN, now=now, by=by)


def pause_study(*, study: Study, now: dt.datetime, by: User | None = None) -> Study:
    """Hand out no new work for now; answers to pairs already shown are still kept."""
    return _move(study, StudyState.PAUSED, now=now, by=by)


def close_study(*, study: Study, now: dt.datetime, by: User | None = None) -> Study:
    """Hand out no more work for good."""
    return _move(study, StudyState.CLOSED, now=now, by=by)


@transaction.atomic
def _move(study: Study, state: StudyState, *, now: dt.datetime, by: User | None) -> Study:
    """Change the state under the row's lock; asking for the present state changes nothing.

    Raises
    ------
    StudyStateError
        If the protocol does not allow the step, e.g. out of CLOSED.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    before = StudyState(study.state)
    if state == before:
        return study
    if state not in ALLOWED[before]:
        msg = f"a study that is {before.label.lower()} cannot be {VERBS[state]}"
        raise StudyStateError(msg)
    study.state = state
    if study.locked_at is None:
        study.locked_at = now
        study.protocol_hash = content_hash(study.content)
    study.save(update_fields=["state", "locked_at", "protocol_hash"])
    record(
        action=f"study.{VERBS[state]}",
        subject=f"study {study.slug}",
        now=now,
        by=by,
        before={"state": before},
        after={"state": state, "protocol_hash": study.protocol_hash},
    )
    if state == StudyState.OPEN:  # its judges may be asked
        nudge(Work.ASK_JUDGES)
    return study


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
    in_hand = slots_in_hand().filter(rater__study=study)
    if mains.filter(slots_left__gt=0, held_at=None).exists() or in_hand.exists():
        return False
    shown = F("shown_first_as_a") + F("shown_first_as_b")
    n = mains.aggregate(n=Sum(shown, default=0))["n"]
    if n == 0:  # nothing is planned, or nothing that people judge
        return False
    data = {"study": study.slug, "judged_slots": n}
    happening = Event(HookEvent.STUDY_FULL, f"study.full/{study.slug}/{n}", data)
    return announce(happening, now=now) > 0


def announce_report(report: Report, study: Study, *, now: dt.datetime) -> None:
    """Tell that a rater reported a dialogue: which one, and neither who nor in what words."""
    data = {"alert": "report.filed", "study": study.slug, "context": report.context.key}
    announce(Event(HookEvent.ALERT, f"report.filed/{report.pk}", data), now=now)
