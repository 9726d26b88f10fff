"""Have Prolific recruit for a study and pay its people; each act is in the log.

Nothing is asked of Prolific inside a transaction: what it did is stored when it has answered.
"""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from access.log import record
from annotation.choices import Platform, SubmissionState
from annotation.models import PlatformStudy, PlatformSubmission, Study
from annotation.raters import prolific
from annotation.raters.consent import consent_lines, session_minutes
from annotation.raters.entry_links import links_for
from annotation.raters.services.submissions import OUTCOMES, take_event
from annotation.studies.queries import content_of

CODE_TYPES = {"complete": "COMPLETED", "no_consent": "NO_CONSENT"}
"""Prolific's types of the codes that it has one for; every other way is of type OTHER."""
CENTS = 100
NOT_THEIRS = gettext_lazy(
    "Prolific does not list the submission for this person in a draft made here, so the link may "
    "be forged. Look it up on Prolific, and decide there."
)


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
            told = {"key": key, "places": n_places}
            _log(study, "prolific.drafted", told, now=now, by=by)
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
    for event in prolific.submissions(there.key):
        outcome = OUTCOMES.get(event.status)
        if outcome is not None and known.get(event.submission_id) not in (None, outcome):
            n_new += take_event(study=there.study, event=event, now=now)
    return n_new


def approve(
    *, study: Study, keys: Collection[int], now: dt.datetime, by: User
) -> tuple[int, list[str]]:
    """Have Prolific approve submissions that are under way there.

    Return how many, and the codes of raters of whose submission nothing shows that it is theirs.
    """
    chosen = list(_open(study).filter(pk__in=keys))
    proven = _proven(study, chosen)
    if proven:
        prolific.approve([one.session_id for one in proven])
        _log(study, "submissions.approved", {"raters": _codes(proven)}, now=now, by=by)
    return len(proven), _codes(one for one in chosen if one not in proven)


def reject(
    *, submission: PlatformSubmission, message: str, category: str, now: dt.datetime, by: User
) -> None:
    """Have Prolific turn a submission down, with the message that its person reads.

    Raises
    ------
    NotOnProlificError
        If nothing shows that the submission is this person's.
    """
    study = submission.rater.study
    if not _proven(study, [submission]):
        raise NotOnProlificError(NOT_THEIRS)
    prolific.reject(submission.session_id, message=message, category=category)
    after = {"raters": _codes([submission]), "category": category, "message": message}
    _log(study, "submission.rejected", after, now=now, by=by)


def _proven(study: Study, chosen: Collection[PlatformSubmission]) -> list[PlatformSubmission]:
    """Return the submissions that Prolific signed, or lists for this study and their person.

    What an unsigned link names, whoever came could have typed: somebody else's submission, too.
    """
    there = PlatformStudy.objects.filter(study=study).first()
    if there is None or not chosen:
        return list(chosen) if content_of(study)["crowd"].get("signed_links") else []
    listed = {(one.participant_id, one.submission_id) for one in prolific.submissions(there.key)}
    return [one for one in chosen if (one.rater.external_id, one.session_id) in listed]


def open_submission_of(study: Study, key: int) -> PlatformSubmission | None:
    """Return a submission that is under way on Prolific, or None."""
    return _open(study).filter(pk=key).first()


def _submissions(study: Study) -> QuerySet[PlatformSubmission]:
    found = PlatformSubmission.objects.filter(rater__study=study, rater__platform=Platform.PROLIFIC)
    return found.filter(rater__is_simulated=False).exclude(session_id="")


def _open(study: Study) -> QuerySet[PlatformSubmission]:
    rows = _submissions(study).filter(state=SubmissionState.ACTIVE)
    return rows.select_related("rater__study").order_by("pk")


def _codes(chosen: Iterable[PlatformSubmission]) -> list[str]:
    return [one.rater.code for one in chosen]


def _log(
    study: Study, action: str, after: Mapping[str, object], *, now: dt.datetime, by: User
) -> None:
    record(action=action, subject=f"study {study.slug}", now=now, by=by, after=after)
