"""Let people into a study: consent first, then the rest."""

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db import IntegrityError, transaction

from annotation.choices import Platform, StudyState
from annotation.models import Consent, Rater, Study
from annotation.services.leasing import StudyNotOpenError
from completions.models import Writer
from completions.services import new_code


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
) -> Rater:
    """Store the consent of a person and the rater that they become, in one transaction.

    A person whom the platform sent before is the same rater again, with no second consent to the
    same text. ``writer`` says that the person also writes for the dataset.

    Raises
    ------
    StudyNotOpenError
        If the study is not open and the person is new to it.
    """
    if (known := _known(study, entry)) is not None:
        return known
    if study.state != StudyState.OPEN:
        raise StudyNotOpenError
    try:
        return _admit(study, entry, utc_offset_minutes, now, writer)
    except IntegrityError:
        # The same person pressed the button twice; the other request was first.
        if (known := _known(study, entry)) is None:
            raise
        return known


def _known(study: Study, entry: Entry) -> Rater | None:
    if not entry.external_id:
        return None
    raters = Rater.objects.select_related("study")
    return raters.filter(
        study=study, platform=entry.platform, external_id=entry.external_id
    ).first()


@transaction.atomic
def _admit(
    study: Study,
    entry: Entry,
    utc_offset_minutes: int | None,
    now: dt.datetime,
    writer: Writer | None,
) -> Rater:
    code = new_code("R")
    rater = Rater.objects.create(
        study=study,
        code=code,
        platform=entry.platform,
        external_id=entry.external_id,
        session=dict(entry.session),
        writer=writer,
        utc_offset_minutes=utc_offset_minutes,
        entered_at=now,
    )
    consent = study.content["consent"]
    Consent.objects.create(
        rater=rater, version=str(consent["version"]), text_hash=_hash(consent), given_at=now
    )
    return rater


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
