"""Send mails to writers; the rows are the queue (ADR-0004)."""

import datetime as dt
from collections.abc import Sequence
from smtplib import SMTPDataError, SMTPRecipientsRefused

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import F, Q, QuerySet

from access.nudges import SOON_S, Work, is_lost, nudge
from completions.choices import MailKind, MessageState
from completions.models import Message, Writer, WriterMail
from completions.writers import emails
from completions.writers.emails import waiting_mails

BATCH = 20
RETRY_AFTER = dt.timedelta(minutes=10)
"""No shorter than a task may run, so that nobody takes what another sender still has."""
REFUSALS = (SMTPRecipientsRefused, SMTPDataError, ValueError)
"""Errors of one mail, also an address that cannot be written in a header; every other one is the
server's, and no mail is to blame."""


def queue_mail(
    *, writer: Writer, kind: MailKind, now: dt.datetime, note: str = ""
) -> WriterMail | None:
    """Have a mail sent to the writer; does nothing for somebody who gave no address.

    Call it inside the transaction of the act that the mail tells about.
    """
    if not writer.email:
        return None
    nudge(Work.SEND_WRITER_MAILS, within_s=SOON_S)
    return WriterMail.objects.create(writer=writer, kind=kind, note=note, queued_at=now)


def send_writer_mails(*, now: dt.datetime) -> int:
    """Send the mails that wait, one by one; return how many went.

    To whom a mail goes, and whether it still has a point, is read just before it goes. Safe to run
    twice and at once: a mail that somebody claimed is left alone until the claim is ten minutes
    old, so it goes twice only if a sender died just after sending. What a server does not take is
    kept with the error and tried again, five times at most; while no server can be reached, mails
    wait as long as it takes. Without mail set up nothing is claimed.
    """
    left = _claim(now) if emails.is_server_set_up() else []
    if not left:
        return 0
    n_sent = 0
    try:
        with get_connection() as server:
            while left:
                n_sent += _send(left[0], server, now=now)
                left.pop(0)
    except OSError as error:  # the network's errors, and SMTPException among them
        for mail in left:
            _rows([mail]).update(error=_told(error, mail))
    return n_sent


@transaction.atomic
def _claim(now: dt.datetime) -> list[WriterMail]:
    """Take mails that wait, that no other sender has, and that have somewhere to go."""
    forgotten = Q(claimed_at=None) | is_lost(now=now, after=RETRY_AFTER)
    waiting = waiting_mails().filter(forgotten).select_related("writer__dataset")
    rows = waiting.order_by("queued_at", "pk").select_for_update(skip_locked=True, of=("self",))
    claimed = list(rows[:BATCH])
    _rows(claimed).update(claimed_at=now)
    return claimed


def _send(mail: WriterMail, server: BaseEmailBackend, *, now: dt.datetime) -> bool:
    """Try one mail, and store at once what came of it."""
    found = _rows([mail]).select_related("writer__dataset").first()
    if found is None or not found.writer.email:  # they left, or their address is forgotten
        return False
    if found.kind == MailKind.RETURNED and not _is_anything_to_mend(found.writer):
        found.delete()
        return False
    try:
        _message(found, server).send()
    except REFUSALS as error:
        _rows([mail]).update(attempts=F("attempts") + 1, error=_told(error, found))
        return False
    _rows([mail]).update(attempts=F("attempts") + 1, sent_at=now, error="")
    return True


def _is_anything_to_mend(writer: Writer) -> bool:
    """Say whether any message waits for its writer: a mail does not know which one it is about."""
    sent_back = Message.objects.filter(lease__writer=writer, state=MessageState.RETURNED)
    return sent_back.exists()


def _message(mail: WriterMail, server: BaseEmailBackend) -> EmailMessage:
    letter = emails.compose(mail)
    contact = (mail.writer.dataset.host or {}).get("contact", "")
    letter.from_email = settings.HEART_EMAIL_FROM or letter.from_email
    letter.to = [mail.writer.email]
    letter.reply_to = [contact] if emails.is_address(contact) else []
    letter.connection = server
    return letter


def _told(error: Exception, mail: WriterMail) -> str:
    """Say what went wrong; servers quote the address, which has to stay in one place only."""
    words = f"{type(error).__name__}: {error}".replace(mail.writer.email, "(the address)")
    return words[:500]


def _rows(mails_: Sequence[WriterMail]) -> QuerySet[WriterMail]:
    return WriterMail.objects.filter(pk__in=[mail.pk for mail in mails_])
