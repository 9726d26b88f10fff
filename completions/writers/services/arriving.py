"""Take an invited person's answer, and what they say about themselves."""

import datetime as dt
import hashlib

from django.db import transaction

from access.choices import PersonKind
from access.evidence.services import Agreed, keep_evidence
from completions.choices import Background, WriterState
from completions.models import Writer, WriterConsent
from completions.writers.desk_queries import AGREED
from completions.writers.services.leasing import WriterNotActiveError, lock_writer
from completions.writers.services.vetting import move_on

ASKED = (WriterState.INVITED, WriterState.DECLINED)
"""States in which the personal link asks for an answer; who declined may think better of it."""


@transaction.atomic
def accept_invitation(
    *, writer: Writer, consent_version: str, consent_text: str, now: dt.datetime
) -> Writer:
    """Store the person's consent; the profile comes next. Repeating it is harmless.

    Raises
    ------
    WriterNotActiveError
        If the writer was paused, refused, or has left.
    """
    writer = lock_writer(writer)
    if writer.state in ASKED:
        writer.state = WriterState.PROFILING
        writer.save(update_fields=["state"])
        _store_consent(writer, version=consent_version, text=consent_text, now=now)
    if writer.state not in AGREED:
        raise WriterNotActiveError
    return writer


@transaction.atomic
def agree_again(
    *, writer: Writer, consent_version: str, consent_text: str, now: dt.datetime
) -> Writer:
    """Store that somebody who writes already agrees to newer words; repeating it is harmless.

    Raises
    ------
    WriterNotActiveError
        If the person may not write at the moment.
    """
    writer = lock_writer(writer)
    if writer.state not in AGREED:
        raise WriterNotActiveError
    if not writer.consents.filter(version=consent_version).exists():
        _store_consent(writer, version=consent_version, text=consent_text, now=now)
    return writer


@transaction.atomic
def decline_invitation(*, writer: Writer) -> Writer:
    """Forget the address of somebody who does not want to write; repeating it is harmless.

    Nothing is stored of it but that they declined. A later list with the address invites them
    again: nothing is known of them then.

    Raises
    ------
    WriterNotActiveError
        If the person has agreed before; that is taken back by leaving.
    """
    writer = lock_writer(writer)
    if writer.state not in ASKED:
        raise WriterNotActiveError
    writer.state, writer.email = WriterState.DECLINED, ""
    writer.save(update_fields=["state", "email"])
    return writer


@transaction.atomic
def save_profile(
    *, writer: Writer, background: Background, has_own_system: bool, now: dt.datetime
) -> Writer:
    """Store who the person is; they go on trial, or, without a vetting set, are let in.

    Sent again, the first answer stays. A system of one's own is theirs only where the dataset
    offers it.

    Raises
    ------
    WriterNotActiveError
        If the person has not agreed, is paused, or has left.
    """
    writer = lock_writer(writer)
    if writer.state == WriterState.PROFILING:
        writer.background = background
        writer.has_own_system = has_own_system and writer.dataset.offers_own_systems
        writer.save(update_fields=["background", "has_own_system"])
        move_on(writer, now=now)
    if writer.state not in AGREED:
        raise WriterNotActiveError
    return writer


def _store_consent(writer: Writer, *, version: str, text: str, now: dt.datetime) -> None:
    text_hash = hashlib.sha256(text.encode()).hexdigest()
    WriterConsent.objects.create(writer=writer, version=version, text_hash=text_hash, given_at=now)
    if not writer.is_simulated:
        who = Agreed(PersonKind.WRITER, writer.dataset.slug, writer.email or writer.code)
        keep_evidence(who, version=version, text_hash=text_hash, now=now)
