"""Freeze the texts that people write for a dataset, and thaw them (ADR-0035)."""

import datetime as dt

from django.contrib.auth.models import User
from django.db import transaction

from access.log import record
from completions.choices import LeaseOutcome
from completions.dialogues.locking import lock_texts
from completions.models import Dataset, Writer, WritingLease
from completions.writers.services.leasing import give_back


@transaction.atomic
def freeze_dataset(*, dataset: Dataset, by: User | None, now: dt.datetime) -> int:
    """Let nobody begin, send or revise a text from now on; return how many claims were given back.

    Drafts are kept, and trial dialogues, which nobody else waits for, stay with their writers.
    Messages that wait may still be accepted as they are, or rejected. Freezing again changes
    nothing.
    """
    dataset = _lock(dataset)
    if dataset.frozen_at is not None:
        return 0
    dataset.frozen_at = now
    dataset.save(update_fields=["frozen_at"])
    n_given_back = _give_open_leases_back(dataset, now=now)
    record(
        action="dataset.frozen",
        subject=f"dataset {dataset.slug}",
        now=now,
        by=by,
        after={"given back": n_given_back},
    )
    return n_given_back


@transaction.atomic
def thaw_dataset(*, dataset: Dataset, by: User | None, now: dt.datetime) -> bool:
    """Let people write and revise again; return False if the dataset was not frozen.

    A text that a study compares stays fixed.
    """
    dataset = _lock(dataset)
    if dataset.frozen_at is None:
        return False
    before = {"frozen": dataset.frozen_at.isoformat()}
    dataset.frozen_at = None
    dataset.save(update_fields=["frozen_at"])
    record(
        action="dataset.thawed", subject=f"dataset {dataset.slug}", now=now, by=by, before=before
    )
    return True


def _lock(dataset: Dataset) -> Dataset:
    """Wait for everybody who is claiming or sending, and let nobody begin meanwhile."""
    writers = Writer.objects.filter(dataset=dataset).order_by("pk")
    list(writers.select_for_update().values_list("pk"))
    return lock_texts(dataset.pk)


def _give_open_leases_back(dataset: Dataset, *, now: dt.datetime) -> int:
    leases = WritingLease.objects.filter(writer__dataset=dataset, closed_at=None, is_trial=False)
    # In the order of the sweep that ends expired ones.
    locked = list(leases.order_by("context_id", "pk").select_for_update(of=("self",)))
    for lease in locked:
        give_back(lease, outcome=LeaseOutcome.RELEASED, now=now)
    return len(locked)
