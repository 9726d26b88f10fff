"""Bring a file's messages in: checks first, then all that is good in one transaction."""

import datetime as dt
from collections.abc import Iterable, Sequence

from django.contrib.auth.models import User
from django.db import transaction

from access.log import record
from completions.dialogues.locking import lock_texts
from completions.files import OutcomeChangedError, Refused
from completions.models import Dataset
from completions.writers.importing import WrittenRow
from completions.writers.services.importing.drafting import draft_rows
from completions.writers.services.importing.ground import Ground, lock_authors, lock_ground
from completions.writers.services.importing.report import BringReport
from completions.writers.services.importing.sifting import Draft, Good, sift
from completions.writers.services.importing.storing import (
    accept,
    store_messages,
    store_writers,
    take_slots,
)
from completions.writers.services.leasing import DatasetFrozenError

Rows = Iterable[WrittenRow | Refused]


def bring_messages(
    *,
    dataset: Dataset,
    rows: Rows,
    now: dt.datetime,
    by: User | None = None,
    are_accepted: bool = False,
    as_shown: str = "",
) -> BringReport:
    """Store the messages of a file that pass the checks, all of them or, after a crash, none.

    Each takes a slot of its talk and waits for a reviewer. With ``are_accepted``, those without
    flags become completions at once. Authors become writers under a fresh pseudonym, and the same
    name is the same writer. Repeating an import adds nothing. ``as_shown`` is the digest of the
    report that somebody confirmed.

    Raises
    ------
    DatasetFrozenError
        If the texts of the dataset do not change any more.
    OutcomeChangedError
        If the report is not the one that was confirmed; nothing is stored then.
    InputFileError
        If ``rows`` raises it; nothing is stored then.
    """
    drafts = list(draft_rows(dataset, rows, now=now))
    with transaction.atomic():
        report = _bring(dataset, drafts, now=now, by=by, are_accepted=are_accepted)
        if as_shown not in {"", report.digest}:
            raise OutcomeChangedError
    return report


def try_messages(
    *,
    dataset: Dataset,
    rows: Rows,
    now: dt.datetime,
    are_accepted: bool = False,
) -> BringReport:
    """Return the report that ``bring_messages`` would give, and store nothing.

    Everything is stored, by the rules of the database too, and rolled back.

    Raises
    ------
    DatasetFrozenError, InputFileError
        As ``bring_messages`` does.
    """
    drafts = list(draft_rows(dataset, rows, now=now))
    with transaction.atomic():
        report = _bring(dataset, drafts, now=now, by=None, are_accepted=are_accepted)
        transaction.set_rollback(True)
    return report


def _bring(
    dataset: Dataset,
    drafts: Sequence[Draft | Refused],
    *,
    now: dt.datetime,
    by: User | None,
    are_accepted: bool,
) -> BringReport:
    lock_authors(dataset)
    dataset = lock_texts(dataset.pk)
    if dataset.frozen_at is not None:
        raise DatasetFrozenError
    contexts = [one.context.pk for one in drafts if isinstance(one, Draft)]
    ground = lock_ground(dataset, contexts=contexts)
    n_read = len({_position(one) for one in drafts})
    report, goods = BringReport(n_read=n_read), list[Good]()
    for one in drafts:
        found = one if isinstance(one, Refused) else sift(one, ground, dataset=dataset, now=now)
        if isinstance(found, Good):
            goods.append(found)
        elif found is None:
            report.n_known += 1
        else:
            report.refused.append(found)
    if goods:
        _store(goods, ground, report, now=now, by=by, are_accepted=are_accepted)
        record(
            action="messages.imported",
            subject=f"dataset {dataset.slug}",
            now=now,
            by=by,
            after=report.counts,
        )
    return report


def _position(one: Draft | Refused) -> int:
    return one.position if isinstance(one, Refused) else one.row.position


def _store(
    goods: Sequence[Good],
    ground: Ground,
    report: BringReport,
    *,
    now: dt.datetime,
    by: User | None,
    are_accepted: bool,
) -> None:
    """Store what is good, and count it."""
    store_writers(ground)
    take_slots(ground)
    revisions = store_messages(goods, now=now)
    plain = [one for one in revisions if are_accepted and not one.flags]
    accept(plain, now=now, by=by)
    report.n_new_authors = len(ground.arrived)
    report.n_flagged = sum(bool(one.flags) for one in revisions)
    report.n_accepted = len(plain)
    report.n_waiting = len(revisions) - len(plain)
