"""Create studies from their files, lock them and change their state."""

import datetime as dt

from django.contrib.auth.models import User
from django.db import transaction

from annotation.choices import PlanKind, Protocol, StudyState
from annotation.models import Study
from annotation.protocol import StudyProtocol, content_hash
from annotation.rubric import Rubric
from completions import normaliser
from completions.models import Dataset
from completions.services import record

ALLOWED = {
    StudyState.DRAFT: {StudyState.OPEN},
    StudyState.OPEN: {StudyState.PAUSED, StudyState.CLOSED},
    StudyState.PAUSED: {StudyState.OPEN, StudyState.CLOSED},
    StudyState.CLOSED: set[StudyState](),
}
VERBS = {
    StudyState.OPEN: "opened",
    StudyState.PAUSED: "paused",
    StudyState.CLOSED: "closed",
}


class StudyExistsError(Exception):
    """A study of that slug exists already."""


class RubricShownError(Exception):
    """A preference study names a dimension of the rubric that its raters must not see."""


class StudyStateError(Exception):
    """The study cannot go from its state to the one asked for."""


@transaction.atomic
def create_study(
    *,
    protocol: StudyProtocol,
    rubric: Rubric,
    dataset: Dataset,
    now: dt.datetime,
    by: User | None = None,
) -> Study:
    """Store a validated study file, with the rubric it names, as a draft on the dataset.

    Raises
    ------
    StudyExistsError
        If the slug is taken.
    RubricShownError
        If raters of a preference study would read the name of a dimension.
    """
    if Study.objects.filter(slug=protocol.slug).exists():
        msg = f'there is a study "{protocol.slug}" already'
        raise StudyExistsError(msg)
    names = [dimension.name for dimension in rubric.dimensions]
    if protocol.protocol == "preference" and (shown := protocol.mentions(names)):
        msg = f"raters of a preference study must not read the rubric's words: {shown}"
        raise RubricShownError(msg)
    study = Study.objects.create(
        slug=protocol.slug,
        name=protocol.family,
        version=protocol.version,
        plan=PlanKind(protocol.plan.upper()),
        title=protocol.title,
        dataset=dataset,
        protocol=Protocol(protocol.protocol.upper()),
        judgments_per_pair=protocol.judgments_per_pair,
        pairs_per_context=protocol.pairs_per_context,
        session_length=protocol.session_length,
        lease_minutes=protocol.lease_minutes,
        min_rationale_length=protocol.min_rationale_length,
        seed=protocol.seed,
        content=protocol.content(rubric.content(), normaliser=normaliser.VERSION),
        created_at=now,
    )
    record(action="study.created", subject=f"study {study.slug}", now=now, by=by)
    return study


def open_study(*, study: Study, now: dt.datetime, by: User | None = None) -> Study:
    """Let raters in; the first opening locks the protocol under its hash."""
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
        msg = f"a study that is {before.label.lower()} cannot become {state.label.lower()}"
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
    return study
