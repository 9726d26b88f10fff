"""Invite people to write for a dataset, and replace the link that they come by."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from access.log import record
from completions.choices import MailKind, WriterState
from completions.models import Dataset, Writer
from completions.writers.services.emailing import queue_mail
from completions.writers.services.leasing import lock_writer
from completions.writers.services.pseudonyms import new_code

LINKED = (
    WriterState.INVITED,
    WriterState.PROFILING,
    WriterState.VETTING,
    WriterState.ACTIVE,
    WriterState.PAUSED,
)
"""States of people whom their link lets in to write, or to agree to it."""
LINKLESS = (WriterState.WITHDRAWN, WriterState.ELSEWHERE)


class CannotBeInvitedError(Exception):
    """The person has no address, or no use for a link; the message says which."""


@dataclass(frozen=True)
class Invitations:
    """Whom a list of addresses reached: who is new, and whom the pool has already."""

    invited: tuple[Writer, ...]
    known: tuple[Writer, ...]


@transaction.atomic
def invite_writer(
    *, dataset: Dataset, now: dt.datetime, email: str = "", by: User | None = None
) -> Writer:
    """Create a writer of the dataset's pool, and have the personal link sent to the address.

    Inviting the same address again, however it is capitalised, returns the writer it already has.
    """
    # One invitation at a time; no_key, so that other rows of the dataset are stored meanwhile.
    dataset = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    email = email.strip().lower()
    if email and (known := dataset.writers.filter(email=email).first()) is not None:
        return known
    code = new_code("W")
    writer = Writer.objects.create(dataset=dataset, code=code, email=email, invited_at=now)
    queue_mail(writer=writer, kind=MailKind.INVITED, now=now)
    record(action="writer.invited", subject=f"writer {code}", now=now, by=by)
    return writer


@transaction.atomic
def invite_writers(
    *, dataset: Dataset, emails: Iterable[str], now: dt.datetime, by: User | None = None
) -> Invitations:
    """Invite each address once; those of the pool stay as they are."""
    there = set(dataset.writers.values_list("pk", flat=True))
    writers = {
        writer.pk: writer
        for writer in (invite_writer(dataset=dataset, email=one, now=now, by=by) for one in emails)
    }
    return Invitations(
        invited=tuple(writer for pk, writer in writers.items() if pk not in there),
        known=tuple(writer for pk, writer in writers.items() if pk in there),
    )


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
