"""Let people into a study: consent first, then the rest."""

import datetime as dt
import secrets

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from access.choices import PersonKind
from access.evidence import keep_evidence
from access.log import record
from annotation.assignment.slots import lock_rater
from annotation.choices import StudyState
from annotation.judging.services.leasing import StudyNotOpenError, first_stage
from annotation.models import Consent, Rater, Study
from annotation.raters import entry_queries
from annotation.raters.consent import consent_hash
from annotation.raters.entry_links import Entry
from annotation.raters.services.submissions import open_submission, store_submission
from annotation.studies import queries as study_queries
from completions.models import Writer
from completions.writers.credentials import new_code, repeatable_code

DRAW_KEY_BYTES = 16


class StudyFullError(Exception):
    """No comparison of the study has a slot for somebody new."""


class WrongPlatformError(Exception):
    """The study takes people of one crowd platform, and the visitor came another way."""


class BoundElsewhereError(Exception):
    """The person takes part by another browser, and nothing shows that this one is theirs, too."""


class WithdrawnError(BoundElsewhereError):
    """The person has withdrawn, and would judge the same pairs as somebody new."""


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
    same text: if this is the browser that the rater is bound to, or none is yet, or the platform
    signed the link. ``writer`` says that the person also writes for the dataset.

    Raises
    ------
    BoundElsewhereError
        If the person takes part by another browser.
    StudyNotOpenError
        If the person is new, and the study is not open, or a program wants to enter a study for
        people, or a person the simulation of one.
    WrongPlatformError
        If the person is new and came another way than the study's platform sends people.
    StudyFullError
        If the person is new and no slot is left.
    WithdrawnError
        If the person was here before and withdrew.
    """
    if (known := _known(study, entry)) is not None:
        return come_back(rater=known, entry=entry, now=now, is_simulated=is_simulated)
    check_admission(study=study, entry=entry, is_simulated=is_simulated)
    try:
        rater = Rater(
            study=study,
            platform=entry.platform,
            external_id=entry.external_id,
            bound_by=entry.form,
            writer=writer,
            utc_offset_minutes=utc_offset_minutes,
            is_simulated=is_simulated,
        )
        return _admit(rater, entry, now=now)
    except IntegrityError:
        # The same person pressed the button twice; the other request was first.
        if (known := _known(study, entry)) is None:
            raise
        return come_back(rater=known, entry=entry, now=now, is_simulated=is_simulated)


def check_arrival(*, study: Study, entry: Entry, is_simulated: bool) -> Rater | None:
    """Return the rater that a visitor is already, or None if somebody new may enter.

    Raises
    ------
    BoundElsewhereError, StudyNotOpenError, WrongPlatformError, StudyFullError, WithdrawnError
        As ``enter_study`` does.
    """
    known = _known(study, entry)
    if known is None:
        check_admission(study=study, entry=entry, is_simulated=is_simulated)
    elif not _may_be(known, entry, is_simulated=is_simulated):
        raise BoundElsewhereError
    return known


@transaction.atomic
def come_back(*, rater: Rater, entry: Entry, now: dt.datetime, is_simulated: bool = False) -> Rater:
    """Bind a rater to the browser by which they came back, and open their new submission, if any.

    Raises
    ------
    BoundElsewhereError
        If the rater is bound to another browser.
    """
    rater = lock_rater(rater)
    if not _may_be(rater, entry, is_simulated=is_simulated):
        raise BoundElsewhereError
    if not rater.bound_by and entry.form:
        rater.bound_by = entry.form
        rater.save(update_fields=["bound_by"])
    if entry.external_id:
        open_submission(rater, entry.session, now=now)
    return rater


@transaction.atomic
def release_binding(*, rater: Rater, by: User, now: dt.datetime) -> None:
    """Let the next browser that comes with a rater's id be theirs, and no browser until then.

    Their private link opens no more. Who has no id of a platform could not come back at all.

    Raises
    ------
    ValueError
        If the rater has none.
    """
    rater = lock_rater(rater)
    if not rater.external_id:
        msg = "a rater without an id of a platform comes back by their private link alone"
        raise ValueError(msg)
    rater.bound_by = ""
    rater.link_version += 1
    rater.save(update_fields=["bound_by", "link_version"])
    record(action="rater.unbound", subject=f"rater {rater.code}", now=now, by=by)


def flag_team(rater: Rater) -> None:
    """Remember that a rater is of the team, who can read the results of an open study."""
    Rater.objects.filter(pk=rater.pk).update(is_team=True)
    rater.is_team = True


def check_admission(*, study: Study, entry: Entry, is_simulated: bool) -> None:
    """Say whether somebody new may enter; the errors are those of ``enter_study``.

    Raises
    ------
    StudyNotOpenError, WrongPlatformError, StudyFullError, WithdrawnError
        If not.
    """
    if study.state != StudyState.OPEN or study.is_simulated != is_simulated:
        raise StudyNotOpenError
    required = study_queries.content_of(study)["crowd"]["platform"]
    if required not in {"any", entry.platform.lower()}:
        raise WrongPlatformError
    has_withdrawn = entry_queries.has_withdrawn(study, entry.external_id)
    if has_withdrawn is None:
        raise StudyFullError
    if has_withdrawn:
        raise WithdrawnError


@transaction.atomic
def link_writer(*, rater: Rater, writer: Writer) -> None:
    """Remember that a rater is also a writer of the dataset: they never see what they wrote for."""
    Rater.objects.filter(pk=rater.pk, writer=None).update(writer=writer)


def _known(study: Study, entry: Entry) -> Rater | None:
    """Return the rater of the platform's id, or of a guest's form that was sent before."""
    raters = Rater.objects.select_related("study").filter(study=study, platform=entry.platform)
    if entry.external_id:
        return raters.filter(external_id=entry.external_id).first()
    return raters.filter(bound_by=entry.form).first() if entry.form else None


def _may_be(rater: Rater, entry: Entry, *, is_simulated: bool) -> bool:
    """Say whether a visitor may be the rater; a simulation may be any rater of its own."""
    if rater.is_simulated != is_simulated:
        return False
    return is_simulated or entry.is_signed or rater.bound_by in {"", entry.form}


def _code(rater: Rater) -> str:
    """Return a fresh pseudonym; a program has the same one each time it simulates the study."""
    if rater.is_simulated and rater.external_id:
        return repeatable_code("R", rater.study.slug, rater.external_id)
    return new_code("R")


def _draw_key(rater: Rater) -> str:
    """Return a fresh secret for the rater's draws; a program has the same one each time."""
    if rater.is_simulated and rater.external_id:
        return repeatable_code("D", "draws", rater.study.slug, rater.external_id)
    return secrets.token_hex(DRAW_KEY_BYTES)


@transaction.atomic
def _admit(rater: Rater, entry: Entry, *, now: dt.datetime) -> Rater:
    study = rater.study
    rater.code = _code(rater)
    rater.draw_key = _draw_key(rater)
    rater.stage = first_stage(study)
    rater.entered_at = now
    rater.save(force_insert=True)
    if entry.external_id:
        store_submission(rater, entry.session, now=now)
    version = str(study_queries.content_of(study)["consent"]["version"])
    text_hash = consent_hash(study)
    Consent.objects.create(rater=rater, version=version, text_hash=text_hash, given_at=now)
    if not rater.is_simulated:
        keep_evidence(
            PersonKind.RATER,
            scope=study.slug,
            identifier=rater.external_id or rater.code,
            version=version,
            text_hash=text_hash,
            now=now,
        )
    return rater
