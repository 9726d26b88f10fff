"""Let people into a study: consent first, then the rest."""

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db import IntegrityError, transaction

from access.choices import PersonKind
from access.services import Agreed, keep_evidence
from annotation import entry_selectors, selectors
from annotation.choices import Platform, StudyState
from annotation.models import Consent, Rater, Study
from annotation.services.leasing import StudyNotOpenError
from annotation.services.standing import first_stage
from completions.models import Writer
from completions.services import new_code, repeatable_code


class StudyFullError(Exception):
    """No comparison of the study has a slot for somebody new."""


class WrongPlatformError(Exception):
    """The study takes people of one crowd platform, and the visitor came another way."""


@dataclass(frozen=True)
class Entry:
    """Who comes, as their platform names them; a guest has no external id."""

    platform: str = Platform.GUEST
    external_id: str = ""
    session: Mapping[str, str] = field(default_factory=dict)


def enter_study(
    *,
    study: Study,
    entry: Entry,
    utc_offset_minutes: int | None,
    now: dt.datetime,
    writer: Writer | None = None,
    is_simulated: bool = False,
) -> Rater:
    """Store the consent of a person and the rater that they become, in one transaction.

    A person whom the platform sent before is the same rater again, with no second consent to the
    same text. ``writer`` says that the person also writes for the dataset.

    Raises
    ------
    StudyNotOpenError
        If the person is new, and the study is not open, or a program wants to enter a study for
        people, or a person the simulation of one.
    WrongPlatformError
        If the person is new and came another way than the study's platform sends people.
    StudyFullError
        If the person is new and no slot is left.
    """
    if (known := _known(study, entry)) is not None:
        return known
    check_admission(study=study, platform=entry.platform, is_simulated=is_simulated)
    try:
        rater = Rater(
            study=study,
            platform=entry.platform,
            external_id=entry.external_id,
            session=dict(entry.session),
            writer=writer,
            utc_offset_minutes=utc_offset_minutes,
            is_simulated=is_simulated,
        )
        return _admit(rater, now=now)
    except IntegrityError:
        # The same person pressed the button twice; the other request was first.
        if (known := _known(study, entry)) is None:
            raise
        return known


def is_enrolled(*, study: Study, entry: Entry) -> bool:
    """Say whether the platform sent this person before."""
    return _known(study, entry) is not None


def check_admission(*, study: Study, platform: str, is_simulated: bool) -> None:
    """Say whether somebody new may enter; the errors are those of ``enter_study``.

    Raises
    ------
    StudyNotOpenError, WrongPlatformError, StudyFullError
        If not.
    """
    if study.state != StudyState.OPEN or study.is_simulated != is_simulated:
        raise StudyNotOpenError
    wanted = selectors.content_of(study)["crowd"]["platform"]
    if wanted not in {"any", platform.lower()}:
        raise WrongPlatformError
    if not entry_selectors.has_room(study):
        raise StudyFullError


def consent_hash(study: Study) -> str:
    """Return the SHA-256 of all that a person reads before agreeing."""
    content = selectors.content_of(study)
    shown = {
        "title": study.title,
        "invitation": content["invitation"],
        "consent": content["consent"],
        "pay": content["crowd"]["pay"],
    }
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()


@transaction.atomic
def link_writer(*, rater: Rater, writer: Writer) -> None:
    """Remember that a rater is also a writer of the dataset: they never see what they wrote for."""
    Rater.objects.filter(pk=rater.pk, writer=None).update(writer=writer)


def _known(study: Study, entry: Entry) -> Rater | None:
    if not entry.external_id:
        return None
    raters = Rater.objects.select_related("study")
    return raters.filter(
        study=study, platform=entry.platform, external_id=entry.external_id
    ).first()


def _code(rater: Rater) -> str:
    """Return a fresh pseudonym; a program has the same one each time it simulates the study."""
    if rater.is_simulated and rater.external_id:
        return repeatable_code("R", rater.study.slug, rater.external_id)
    return new_code("R")


@transaction.atomic
def _admit(rater: Rater, *, now: dt.datetime) -> Rater:
    study = rater.study
    rater.code = _code(rater)
    rater.stage = first_stage(study)
    rater.entered_at = now
    rater.save(force_insert=True)
    version = str(selectors.content_of(study)["consent"]["version"])
    text_hash = consent_hash(study)
    Consent.objects.create(rater=rater, version=version, text_hash=text_hash, given_at=now)
    if not rater.is_simulated:
        who = Agreed(PersonKind.RATER, study.slug, rater.external_id or rater.code)
        keep_evidence(who, version=version, text_hash=text_hash, now=now)
    return rater
