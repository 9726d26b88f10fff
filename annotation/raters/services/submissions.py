"""Submissions of raters: opened, their codes kept, and what a crowd platform says of them.

Prolific recruits for a study and pays its people, and each act is in the log. Nothing is asked of
it inside a transaction: what it did is stored when it has answered.
"""

import datetime as dt
from collections.abc import Collection, Mapping

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from access.log import record
from annotation.assignment.slots import give_back, lock_rater
from annotation.choices import Platform, RaterState, SubmissionState
from annotation.judging.services.leasing import end_rater
from annotation.models import PlatformEvent, PlatformStudy, PlatformSubmission, Rater, Study
from annotation.raters import entry_queries, prolific
from annotation.raters.consent import consent_lines, session_minutes
from annotation.raters.entry_links import links_for
from annotation.raters.webhooks import SUBMISSION, Event
from annotation.studies import selectors
from annotation.studies.selectors import content_of
from completions.choices import LeaseOutcome
from completions.leases import timed

NAMES = ("SESSION_ID", "assignmentId")
"""What platforms call the id of a submission on their links."""
GOES_ON = (RaterState.STOPPED, RaterState.FULL)
"""How a part may have ended that a new submission takes up again, if anything is left of it."""
OUTCOMES = {
    "RETURNED": SubmissionState.RETURNED,
    "TIMED-OUT": SubmissionState.EXPIRED,
    "REJECTED": SubmissionState.REJECTED,
    "APPROVED": SubmissionState.APPROVED,
}
"""What of a platform's words for where a submission stands ends it."""


def open_first(rater: Rater, ids: Mapping[str, str], *, now: dt.datetime) -> None:
    """Store with what submission of their platform a new rater came."""
    _open(rater, ids, number=1, n_before=0, now=now)


def open_submission(rater: Rater, ids: Mapping[str, str], *, now: dt.datetime) -> None:
    """Store that a locked rater came back with a submission of their platform, if it is a new one.

    It goes on with what is left of the session, even if the rater stopped, or their platform
    ended the one before.
    """
    if rater.submissions.filter(session_id=_session_id(ids)).exists():
        return
    n_before, wanted = selectors.rater_progress(rater)
    _open(rater, ids, number=rater.submissions.count() + 1, n_before=n_before, now=now)
    if rater.state in GOES_ON and n_before < wanted:
        rater.state, rater.ended_at = RaterState.ACTIVE, None
        rater.save(update_fields=["state", "ended_at"])


def _open(
    rater: Rater, ids: Mapping[str, str], *, number: int, n_before: int, now: dt.datetime
) -> None:
    PlatformSubmission.objects.create(
        rater=rater,
        number=number,
        session_id=_session_id(ids),
        ids={name: value for name, value in ids.items() if name not in NAMES},
        n_before=n_before,
        opened_at=now,
        changed_at=now,
    )


def _session_id(ids: Mapping[str, str]) -> str:
    return next((ids[name] for name in NAMES if name in ids), "")


def give_code(*, rater: Rater, code: str, now: dt.datetime) -> None:
    """Keep with a rater's newest submission the code that the last page shows."""
    newest = selectors.newest_submission(rater)
    if newest is not None and newest.code != code:
        PlatformSubmission.objects.filter(pk=newest.pk).update(code=code, changed_at=now)


def end_submission(submission: PlatformSubmission, status: str, *, now: dt.datetime) -> None:
    """Keep how a submission ended on its platform; other words for where it stands say nothing."""
    if (outcome := OUTCOMES.get(status)) is not None:
        found = PlatformSubmission.objects.filter(pk=submission.pk)
        found.exclude(state=outcome).update(state=outcome, changed_at=now)


@transaction.atomic
def take_event(*, study: Study, event: Event, now: dt.datetime) -> bool:
    """Store an event of Prolific and do what follows from it; say whether it was new.

    When somebody gave their submission back, ran out of time or was turned down, their open pair
    goes back to others and their part ends; what they answered stays. It does not end if they came
    with a newer submission since. An event that was taken before changes nothing, nor does one of
    an unknown kind or about somebody unknown.
    """
    submission = _submission_of(event, study)
    rater = None if submission is None else submission.rater
    _stored, is_new = PlatformEvent.objects.get_or_create(
        platform=Platform.PROLIFIC,
        event_id=event.event_id,
        defaults={
            "study": study if rater is None else rater.study,
            "kind": event.kind,
            "status": event.status,
            "rater": rater,
            "received_at": now,
        },
    )
    if is_new and submission is not None:
        _take_in(submission, event, now=now)
    return is_new


def _submission_of(event: Event, study: Study) -> PlatformSubmission | None:
    """Return the submission that the event is about.

    A workspace sends the events of all its studies to each address, and one person can take part
    in several: the submission decides, which the entry link names as the session.
    """
    if event.kind != SUBMISSION or not event.participant_id:
        return None
    return entry_queries.submission_of(
        participant_id=event.participant_id, session_id=event.submission_id, study=study
    )


def _take_in(submission: PlatformSubmission, event: Event, *, now: dt.datetime) -> None:
    """Keep how a submission ended; with the rater's newest, their part ends as well."""
    rater = lock_rater(submission.rater)
    end_submission(submission, event.status, now=now)
    newest = selectors.newest_submission(rater)
    if event.ends_part and newest == submission and rater.state == RaterState.ACTIVE:
        _end_part(rater, event, now=now)


def _end_part(rater: Rater, event: Event, *, now: dt.datetime) -> None:
    if (lease := timed.lock_open(rater.leases)) is not None:
        give_back(lease, outcome=LeaseOutcome.RELEASED, now=now)
    end_rater(rater, state=RaterState.STOPPED, now=now)
    after = {"platform": str(Platform.PROLIFIC), "status": event.status}
    record(action="rater.returned", subject=f"rater {rater.code}", now=now, after=after)


CODE_TYPES = {"complete": "COMPLETED", "no_consent": "NO_CONSENT"}
"""Prolific's types of the codes that it has one for; every other way is of type OTHER."""
CENTS = 100


class NotOnProlificError(Exception):
    """The study cannot be recruited for like that; the message says what is missing."""


def draft_on_prolific(
    *, study: Study, n_places: int, reward: float, entry: str, now: dt.datetime, by: User
) -> PlatformStudy:
    """Make a draft of the study on Prolific, with its link and codes; a person publishes it there.

    ``n_places`` is how many people are wanted, ``reward`` what each gets for a complete session, in
    whole units; ``entry`` is the address of the study's first page.

    Raises
    ------
    NotOnProlificError
        If the study is simulated, is not for Prolific, names no code for a complete session, or
        is there already.
    prolific.ProlificError
        If Prolific refuses.
    """
    if why := _refusal(study):
        raise NotOnProlificError(why)
    content, lines = content_of(study), consent_lines(study, platform=Platform.PROLIFIC)
    key = prolific.create_draft(
        {
            "name": study.title,
            "internal_name": study.slug,
            "description": "\n".join([content["invitation"], *lines]),
            "external_study_url": entry + links_for("prolific")[Platform.PROLIFIC],
            "prolific_id_option": "url_parameters",
            "completion_codes": [
                {
                    "code": code,
                    "code_type": CODE_TYPES.get(way, "OTHER"),
                    "actions": [{"action": "MANUALLY_REVIEW"}],
                }
                for way, code in content["crowd"]["codes"].items()
                if code
            ],
            "estimated_completion_time": session_minutes(study),
            "reward": round(reward * CENTS),
            "total_available_places": n_places,
        }
    )
    try:
        with transaction.atomic():
            made = PlatformStudy.objects.create(
                study=study, key=key, n_places=n_places, created_at=now
            )
            _log(
                study,
                "prolific.drafted",
                {"key": key, "places": n_places},
                now=now,
                by=by,
            )
    except IntegrityError as error:
        msg = f"There is a draft on Prolific already; delete the second one there: {key}."
        raise NotOnProlificError(msg) from error
    return made


def _refusal(study: Study) -> str:
    """Return why no draft can be made; empty if one can."""
    crowd = content_of(study)["crowd"]
    if study.is_simulated:
        return _("Nobody is paid in a simulated study.")
    if crowd["platform"] not in ("any", "prolific"):
        return _("The study lets in people of another platform alone.")
    if not crowd["codes"].get("complete"):
        return _("The study file names no code for a complete session.")
    if PlatformStudy.objects.filter(study=study).exists():
        return _("There is a draft on Prolific already.")
    return ""


def set_places(*, there: PlatformStudy, n_places: int, now: dt.datetime, by: User) -> None:
    """Change how many people may take part on Prolific."""
    prolific.set_places(there.key, n_places)
    with transaction.atomic():
        PlatformStudy.objects.filter(pk=there.pk).update(n_places=n_places)
        _log(there.study, "prolific.places", {"places": n_places}, now=now, by=by)


def read_states(*, there: PlatformStudy, now: dt.datetime) -> int:
    """Take in how submissions ended on Prolific, as its webhook would have told; return how many.

    One that was given back, timed out or was rejected ends its person's part.
    """
    known = dict(_submissions(there.study).values_list("session_id", "state"))
    n_new = 0
    for one in prolific.submissions(there.key):
        outcome = OUTCOMES.get(one.status)
        if outcome is None or known.get(one.id) in (None, outcome):
            continue
        event = Event(
            f"read {one.id} {one.status}", SUBMISSION, one.status, one.participant_id, one.id
        )
        n_new += take_event(study=there.study, event=event, now=now)
    return n_new


def approve(*, study: Study, keys: Collection[int], now: dt.datetime, by: User) -> int:
    """Have Prolific approve submissions that are under way there, and return how many."""
    chosen = list(_open_submissions(study).filter(pk__in=keys))
    if chosen:
        prolific.approve([one.session_id for one in chosen])
        _log(study, "submissions.approved", {"raters": _codes(chosen)}, now=now, by=by)
    return len(chosen)


def reject(
    *, submission: PlatformSubmission, message: str, category: str, now: dt.datetime, by: User
) -> None:
    """Have Prolific turn a submission down, with the message that its person reads."""
    prolific.reject(submission.session_id, message=message, category=category)
    after = {"raters": _codes([submission]), "category": category, "message": message}
    _log(submission.rater.study, "submission.rejected", after, now=now, by=by)


def open_submission_of(study: Study, key: int) -> PlatformSubmission | None:
    """Return a submission that is under way on Prolific, or None."""
    return _open_submissions(study).filter(pk=key).first()


def _submissions(study: Study) -> QuerySet[PlatformSubmission]:
    found = PlatformSubmission.objects.filter(rater__study=study, rater__platform=Platform.PROLIFIC)
    return found.filter(rater__is_simulated=False).exclude(session_id="")


def _open_submissions(study: Study) -> QuerySet[PlatformSubmission]:
    rows = _submissions(study).filter(state=SubmissionState.ACTIVE)
    return rows.select_related("rater__study").order_by("pk")


def _codes(chosen: Collection[PlatformSubmission]) -> list[str]:
    return [one.rater.code for one in chosen]


def _log(
    study: Study, action: str, after: Mapping[str, object], *, now: dt.datetime, by: User
) -> None:
    record(action=action, subject=f"study {study.slug}", now=now, by=by, after=after)
