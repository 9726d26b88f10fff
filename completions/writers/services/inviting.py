"""Invite people to write for a dataset, and take their answers; replace the link they come by."""

import datetime as dt
import hashlib
from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from access.choices import PersonKind
from access.evidence import keep_evidence
from access.log import record
from completions.choices import Background, MailKind, WriterState
from completions.models import Dataset, Writer, WriterConsent
from completions.writers.credentials import new_code
from completions.writers.guidelines import VERSION, consent_text
from completions.writers.pool_queries import LINKLESS
from completions.writers.queries import AGREED, MAY_COME_IN
from completions.writers.services.emailing import queue_mail
from completions.writers.services.leasing import WriterNotActiveError, lock_writer
from completions.writers.services.vetting import move_on

LINKED = (WriterState.INVITED, *MAY_COME_IN)
"""States of people whom their link lets in to write, or to agree to it."""


class CannotBeInvitedError(Exception):
    """The person has no address or no use for a link, or the pool is frozen: the message says."""


@transaction.atomic
def invite_writer(
    *, dataset: Dataset, now: dt.datetime, email: str = "", code: str = "", by: User | None = None
) -> Writer:
    """Create a writer of the dataset's pool, and have the personal link sent to the address.

    Inviting the same address again, however it is capitalised, returns the writer it already has;
    so does the same code, which a page gives so that two clicks invite one.

    Raises
    ------
    CannotBeInvitedError
        If the dataset is frozen: whoever came would have nothing to write.
    """
    # One invitation at a time; no_key, so that other rows of the dataset are stored meanwhile.
    dataset = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    email = email.strip().lower()
    known = dataset.writers.filter(email=email) if email else Writer.objects.filter(code=code)
    if (writer := known.first()) is not None:
        return writer
    if dataset.frozen_at is not None:
        raise CannotBeInvitedError(_("The dataset is frozen: nobody was invited."))
    code = code or new_code("W")
    writer = Writer.objects.create(dataset=dataset, code=code, email=email, invited_at=now)
    queue_mail(writer=writer, kind=MailKind.INVITED, now=now)
    record(action="writer.invited", subject=f"writer {code}", now=now, by=by)
    return writer


@transaction.atomic
def invite_writers(
    *, dataset: Dataset, emails: Iterable[str], now: dt.datetime, by: User | None = None
) -> tuple[list[Writer], list[Writer]]:
    """Invite each address once; return who is new, and whom the pool has already."""
    there = set(dataset.writers.values_list("pk", flat=True))
    writers = {
        writer.pk: writer
        for writer in (invite_writer(dataset=dataset, email=one, now=now, by=by) for one in emails)
    }
    new = [writer for pk, writer in writers.items() if pk not in there]
    return new, [writer for pk, writer in writers.items() if pk in there]


@transaction.atomic
def invite_again(*, writer: Writer, now: dt.datetime, by: User | None = None) -> Writer:
    """Have the same link sent once more; while one waits to be sent, that one is enough.

    Raises
    ------
    CannotBeInvitedError
        If there is no address, or the person has declined, left or was not admitted.
    """
    writer = lock_writer(writer)
    if writer.state not in LINKED:
        raise CannotBeInvitedError(_("Nothing was sent: this person is no longer in the pool."))
    if not writer.email:
        raise CannotBeInvitedError(
            _("Nothing was sent: there is no address. Copy the link and pass it on yourself.")
        )
    _send_link(writer, now=now)
    record(action="writer.invited_again", subject=f"writer {writer.code}", now=now, by=by)
    return writer


@transaction.atomic
def renew_link(*, writer: Writer, now: dt.datetime, by: User | None = None) -> Writer:
    """Make a new link and have it sent; every older one, and every browser, is shut out.

    Raises
    ------
    CannotBeInvitedError
        If the person has withdrawn, or wrote elsewhere and never had a link.
    """
    writer = lock_writer(writer)
    if writer.state in LINKLESS:
        raise CannotBeInvitedError(_("Nothing changed: this person has no link."))
    before = writer.link_version
    writer.link_version = before + 1
    writer.save(update_fields=["link_version"])
    if writer.state in LINKED:
        _send_link(writer, now=now)
    record(
        action="writer.link_renewed",
        subject=f"writer {writer.code}",
        now=now,
        by=by,
        before={"link": before},
        after={"link": writer.link_version},
    )
    return writer


def _send_link(writer: Writer, *, now: dt.datetime) -> None:
    """Queue the link; a mail that waits untouched is composed late enough to carry it."""
    waiting = writer.mails.filter(kind=MailKind.INVITED, sent_at=None, claimed_at=None)
    if not waiting.exists():
        queue_mail(writer=writer, kind=MailKind.INVITED, now=now)


ASKED = (WriterState.INVITED, WriterState.DECLINED)
"""States in which the personal link asks for an answer; who declined may think better of it."""


@transaction.atomic
def accept_invitation(*, writer: Writer, now: dt.datetime) -> Writer:
    """Store the person's consent to the words of now; the profile comes next.

    Repeating it is harmless.

    Raises
    ------
    WriterNotActiveError
        If the writer was paused, refused, or has left.
    """
    writer = lock_writer(writer)
    if writer.state in ASKED:
        writer.state = WriterState.PROFILING
        writer.save(update_fields=["state"])
        _store_consent(writer, now=now)
    if writer.state not in AGREED:
        raise WriterNotActiveError
    return writer


@transaction.atomic
def agree_again(*, writer: Writer, now: dt.datetime) -> Writer:
    """Store that somebody who writes already agrees to newer words; repeating it is harmless.

    Raises
    ------
    WriterNotActiveError
        If the person may not write at the moment.
    """
    writer = lock_writer(writer)
    if writer.state not in AGREED:
        raise WriterNotActiveError
    if not writer.consents.filter(version=VERSION).exists():
        _store_consent(writer, now=now)
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


def _store_consent(writer: Writer, *, now: dt.datetime) -> None:
    text_hash = hashlib.sha256(consent_text(writer.dataset.host).encode()).hexdigest()
    WriterConsent.objects.create(writer=writer, version=VERSION, text_hash=text_hash, given_at=now)
    if not writer.is_simulated:
        keep_evidence(
            PersonKind.WRITER,
            scope=writer.dataset.slug,
            identifier=writer.email or writer.code,
            version=VERSION,
            text_hash=text_hash,
            now=now,
        )
