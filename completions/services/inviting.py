"""Invite people to write for a dataset."""

import datetime as dt

from django.contrib.auth.models import User
from django.db import transaction

from completions.models import Dataset, Writer
from completions.services.codes import new_code
from completions.services.log import record


@transaction.atomic
def invite_writer(
    *, dataset: Dataset, now: dt.datetime, email: str = "", by: User | None = None
) -> Writer:
    """Create a writer of the dataset's pool, to be sent a personal link.

    Inviting the same address again, however it is capitalised, returns the writer it already has.
    """
    # One invitation at a time; no_key, so that other rows of the dataset are stored meanwhile.
    dataset = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    email = email.strip().lower()
    if email and (known := dataset.writers.filter(email=email).first()) is not None:
        return known
    code = new_code("W")
    writer = Writer.objects.create(dataset=dataset, code=code, email=email, invited_at=now)
    record(action="writer.invited", subject=f"writer {code}", now=now, by=by)
    return writer
