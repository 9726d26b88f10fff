"""Take an invited person's agreement."""

import datetime as dt
import hashlib

from django.db import transaction

from completions.choices import WriterState
from completions.models import Writer, WriterConsent
from completions.services.leasing import WriterNotActiveError, lock_writer


@transaction.atomic
def accept_invitation(
    *, writer: Writer, consent_version: str, consent_text: str, now: dt.datetime
) -> Writer:
    """Store the writer's consent and make an invited writer active; repeating it is harmless.

    Raises
    ------
    WriterNotActiveError
        If the writer was paused or has left.
    """
    writer = lock_writer(writer)
    if writer.state == WriterState.INVITED:
        writer.state, writer.admitted_at = WriterState.ACTIVE, now
        writer.save(update_fields=["state", "admitted_at"])
        WriterConsent.objects.create(
            writer=writer,
            version=consent_version,
            text_hash=hashlib.sha256(consent_text.encode()).hexdigest(),
            given_at=now,
        )
    if writer.state != WriterState.ACTIVE:
        raise WriterNotActiveError
    return writer
