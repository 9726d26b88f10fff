"""Import a file's messages: checks first, then all that is good at once, and a report."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from access.log import record
from completions.choices import LeaseOutcome, MessageState, MessageVerdict
from completions.dialogues.context_extraction import digest
from completions.dialogues.locking import lock_texts
from completions.files.refusals import Refusals, Refused, refused
from completions.files.rows import BATCH, OutcomeChangedError, batches
from completions.models import (
    Context,
    Dataset,
    Message,
    MessageDecision,
    MessageRevision,
    Writer,
    WritingLease,
)
from completions.writers.importing import WrittenRow
from completions.writers.services.flagging import Flag, rules
from completions.writers.services.import_rows import (
    Draft,
    ExistingTexts,
    draft_rows,
    lock_authors,
    lock_existing_texts,
    sift,
)
from completions.writers.services.leasing import LEASE_LENGTH, DatasetFrozenError
from completions.writers.services.review_decisions import complete_message


@dataclass
class MessageImportReport(Refusals):
    """How many rows were read, what was stored of them, and which were refused."""

    n_read: int = 0
    n_known: int = 0
    n_waiting: int = 0
    n_accepted: int = 0
    n_flagged: int = 0
    n_new_authors: int = 0

    @property
    def n_stored(self) -> int:
        """How many messages were added."""
        return self.n_waiting + self.n_accepted

    @property
    def counts(self) -> dict[str, int]:
        """The figures alone."""
        return {
            "read": self.n_read,
            "stored": self.n_stored,
            "waiting": self.n_waiting,
            "accepted": self.n_accepted,
            "flagged": self.n_flagged,
            "known": self.n_known,
            "refused": self.n_refused,
            "new_authors": self.n_new_authors,
        }


Rows = Iterable[WrittenRow | Refused]
GoodDraft = tuple[Draft, Writer]
"""A draft that becomes a message, with its writer."""


def import_messages(
    *,
    dataset: Dataset,
    rows: Rows,
    now: dt.datetime,
    by: User | None = None,
    are_accepted: bool = False,
    as_shown: str = "",
) -> MessageImportReport:
    """Store the messages of a file that pass the checks, all of them or, after a crash, none.

    Each takes a slot of its dialogue and waits for a reviewer. With ``are_accepted``, those without
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
        report = _import(dataset, drafts, now=now, by=by, are_accepted=are_accepted)
        if as_shown not in {"", report.digest}:
            raise OutcomeChangedError
    return report


def try_messages(
    *,
    dataset: Dataset,
    rows: Rows,
    now: dt.datetime,
    are_accepted: bool = False,
) -> MessageImportReport:
    """Return the report that ``import_messages`` would give, and store nothing.

    Everything is stored, by the rules of the database too, and rolled back.

    Raises
    ------
    DatasetFrozenError, InputFileError
        As ``import_messages`` does.
    """
    drafts = list(draft_rows(dataset, rows, now=now))
    with transaction.atomic():
        report = _import(dataset, drafts, now=now, by=None, are_accepted=are_accepted)
        transaction.set_rollback(True)
    return report


def _import(
    dataset: Dataset,
    drafts: Sequence[Draft | Refused],
    *,
    now: dt.datetime,
    by: User | None,
    are_accepted: bool,
) -> MessageImportReport:
    lock_authors(dataset)
    dataset = lock_texts(dataset.pk)
    if dataset.frozen_at is not None:
        raise DatasetFrozenError
    contexts = [one.context.pk for one in drafts if isinstance(one, Draft)]
    existing = lock_existing_texts(dataset, contexts=contexts)
    n_read = len({_position(one) for one in drafts})
    report, goods = MessageImportReport(n_read=n_read), list[GoodDraft]()
    for one in drafts:
        if isinstance(one, Refused):
            report.refused.append(one)
            continue
        found = sift(one, existing, dataset=dataset, now=now)
        if isinstance(found, Writer):
            goods.append((one, found))
        elif found is None:
            report.n_known += 1
        else:
            report.refused.append(refused(one.row.position, "", found))
    if goods:
        _store(goods, existing, report, now=now, by=by, are_accepted=are_accepted)
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
    goods: Sequence[GoodDraft],
    existing: ExistingTexts,
    report: MessageImportReport,
    *,
    now: dt.datetime,
    by: User | None,
    are_accepted: bool,
) -> None:
    """Store what is good, and count it."""
    store_writers(existing)
    take_slots(existing)
    revisions = store_messages(goods, now=now)
    plain = [one for one in revisions if are_accepted and not one.flags]
    accept(plain, now=now, by=by)
    report.n_new_authors = len(existing.arrived)
    report.n_flagged = sum(bool(one.flags) for one in revisions)
    report.n_accepted = len(plain)
    report.n_waiting = len(revisions) - len(plain)


ACCEPTED_NOTE = "Read and accepted elsewhere, before it was imported."


def store_writers(existing: ExistingTexts) -> None:
    """Add the authors who are new, and keep what is new about the others."""
    Writer.objects.bulk_create(existing.arrived, batch_size=BATCH)
    Writer.objects.bulk_update(existing.described, ["background"], batch_size=BATCH)


def take_slots(existing: ExistingTexts) -> None:
    """Take the slots of the locked contexts: one query for all that lose as many."""
    by_number = defaultdict[int, list[int]](list)
    for pk, n in existing.taken.items():
        if n:
            by_number[n].append(pk)
    for n, pks in by_number.items():
        for batch in batches(sorted(pks)):
            Context.objects.filter(pk__in=batch).update(slots_left=F("slots_left") - n)


def store_messages(goods: Sequence[GoodDraft], *, now: dt.datetime) -> list[MessageRevision]:
    """Add a closed claim, a message that waits and its one version for each."""
    leases = [_lease(draft, writer, now=now) for draft, writer in goods]
    WritingLease.objects.bulk_create(leases, batch_size=BATCH)
    messages = [
        Message(lease=lease, state=MessageState.WAITING, sent_at=now, changed_at=now)
        for lease in leases
    ]
    Message.objects.bulk_create(messages, batch_size=BATCH)
    stored = [(draft, message) for (draft, _), message in zip(goods, messages, strict=True)]
    of_line = {draft.row.position: message.pk for draft, message in stored}
    revisions = [_revision(draft, message, of_line, now=now) for draft, message in stored]
    return MessageRevision.objects.bulk_create(revisions, batch_size=BATCH)


def accept(revisions: Sequence[MessageRevision], *, now: dt.datetime, by: User | None) -> None:
    """Make completions of messages that a person read elsewhere, and say so."""
    for revision in revisions:
        complete_message(message=revision.message, revision=revision, now=now)
    decisions = [
        MessageDecision(
            revision=revision,
            verdict=MessageVerdict.ACCEPTED,
            note=ACCEPTED_NOTE,
            decided_at=now,
            decided_by=by,
        )
        for revision in revisions
    ]
    MessageDecision.objects.bulk_create(decisions, batch_size=BATCH)


def _lease(draft: Draft, writer: Writer, *, now: dt.datetime) -> WritingLease:
    return WritingLease(
        context=draft.context,
        writer=writer,
        issued_at=now,
        expires_at=now + LEASE_LENGTH,
        closed_at=now,
        outcome=LeaseOutcome.SUBMITTED,
    )


def _revision(
    draft: Draft, message: Message, of_line: Mapping[int, int], *, now: dt.datetime
) -> MessageRevision:
    row = draft.row
    return MessageRevision(
        message=message,
        number=1,
        text=row.text,
        content_hash=digest(row.text),
        is_declared=False,  # nobody was asked here
        flags=list(_flags(draft.flags, of_line)),
        rules=rules(),
        written_at=row.written_at or now,
    )


def _flags(flags: Iterable[Flag], of_line: Mapping[int, int]) -> Iterator[Flag]:
    """Yield the flags; one about another row of the file names the message that it became."""
    for flag in flags:
        line = flag.get("row")
        if line is None:
            yield flag
        elif isinstance(line, int) and line in of_line:
            named = {key: value for key, value in flag.items() if key != "row"}
            yield {**named, "message": of_line[line]}
