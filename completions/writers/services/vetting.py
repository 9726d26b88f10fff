"""Let newcomers in, or not, once an admin has read what they wrote on trial."""

import datetime as dt

from django.contrib.auth.models import User
from django.db import transaction

from access.log import record
from completions.choices import LeaseOutcome, MailKind, WriterState
from completions.dialogues.authoring import lock_authored_dataset, store_authored_contexts
from completions.models import AdmissionDecision, Dataset, Writer
from completions.writers import queries, vetting
from completions.writers.services.emailing import queue_mail
from completions.writers.services.leasing import give_back, lock_writer


class NotOnTrialError(Exception):
    """The writer is not, or not any more, somebody about whom this is decided."""


class TrialNotDoneError(Exception):
    """The trial of the writer is not complete; the message says what is missing."""


class RefusalNoteMissingError(ValueError):
    """Who is not admitted is told why."""


@transaction.atomic
def load_vetting_dialogues(*, now: dt.datetime) -> Dataset:
    """Return the dataset of the shipped trial dialogues, made or completed if need be.

    It is for checks alone: its contexts want no completion. Repeating a call adds nothing.

    Raises
    ------
    DatasetTakenError
        If a dataset that is not for checks has the slug that the dialogues need.
    """
    shipped = vetting.SHIPPED
    dialogues = vetting.load_vetting_set(shipped).talks
    slug = f"vetting-{shipped}"
    dataset = lock_authored_dataset(slug=slug, name=f"Trial conversations: {shipped}", now=now)
    said = [(one.key, [turn.model_dump() for turn in one.turns]) for one in dialogues]
    store_authored_contexts(dataset, said, now=now)
    return dataset


@transaction.atomic
def use_vetting(
    *, dataset: Dataset, now: dt.datetime, by: User | None = None, is_on: bool = True
) -> Dataset:
    """Let newcomers to a dataset write on trial first, or let them in at once.

    When it is switched off, whoever is on trial at the moment is let in. Asking for what is so
    already changes nothing.

    Raises
    ------
    DatasetTakenError
        If a dataset that is not for checks has the slug that the trial dialogues need.
    """
    dialogues = load_vetting_dialogues(now=now) if is_on else None
    # Writers before their dataset, as whoever sends a message locks them; all of them, for one who
    # is answering the profile or ends a pause may come to be on trial meanwhile.
    writers = [] if is_on else list(dataset.writers.order_by("pk").select_for_update())
    on_trial = [writer for writer in writers if writer.state == WriterState.VETTING]
    dataset = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    if (dataset.vetting_id is not None) == is_on:
        return dataset
    dataset.vetting = dialogues
    dataset.save(update_fields=["vetting"])
    record(
        action="vetting.switched_on" if is_on else "vetting.switched_off",
        subject=f"dataset {dataset.slug}",
        now=now,
        by=by,
        after={"dialogues": dialogues.slug}
        if dialogues is not None
        else {"admitted": len(on_trial)},
    )
    for writer in on_trial:
        _admit(writer, note="", by=by, now=now)
    return dataset


@transaction.atomic
def admit_writer(
    *, writer: Writer, note: str = "", by: User | None, now: dt.datetime
) -> AdmissionDecision:
    """Let somebody in whose trial is complete; they are told by mail, with the note if any.

    Raises
    ------
    NotOnTrialError
        If the writer is not on trial.
    TrialNotDoneError
        If dialogues are left to write for, or every one of them was skipped.
    """
    writer = _lock_newcomer(writer)
    if missing := queries.trial_of(writer).missing:
        raise TrialNotDoneError(missing)
    return _admit(writer, note=note.strip(), by=by, now=now)


@transaction.atomic
def refuse_writer(
    *, writer: Writer, note: str, by: User | None, now: dt.datetime
) -> AdmissionDecision:
    """Do not let a newcomer in, and tell them why; possible before the trial is complete.

    Raises
    ------
    RefusalNoteMissingError
        If there is no note.
    NotOnTrialError
        If the writer is not on trial.
    """
    if not note.strip():
        msg = "say why: whoever is not admitted reads it"
        raise RefusalNoteMissingError(msg)
    writer = _lock_newcomer(writer)
    _give_trial_back(writer, now=now)
    writer.state = WriterState.REFUSED
    writer.save(update_fields=["state"])
    return _decide(writer, is_admitted=False, note=note.strip(), by=by, now=now)


def move_on(writer: Writer, *, now: dt.datetime) -> None:
    """Move a locked writer, who has agreed, to where they belong: profile, trial or writing."""
    if writer.admitted_at is not None or (writer.background and not writer.dataset.vetting_id):
        writer.state = WriterState.ACTIVE
        writer.admitted_at = writer.admitted_at or now
        _give_trial_back(writer, now=now)
    else:
        writer.state = WriterState.VETTING if writer.background else WriterState.PROFILING
    writer.save(update_fields=["state", "admitted_at"])


def _lock_newcomer(writer: Writer) -> Writer:
    writer = lock_writer(writer)
    if writer.state != WriterState.VETTING:
        raise NotOnTrialError
    return writer


def _admit(writer: Writer, *, note: str, by: User | None, now: dt.datetime) -> AdmissionDecision:
    writer.state, writer.admitted_at = WriterState.ACTIVE, now
    writer.save(update_fields=["state", "admitted_at"])
    _give_trial_back(writer, now=now)
    return _decide(writer, is_admitted=True, note=note, by=by, now=now)


def _give_trial_back(writer: Writer, *, now: dt.datetime) -> None:
    """Take a trial dialogue that is open from a locked writer: nobody would read it any more."""
    held = writer.leases.select_for_update(of=("self",)).filter(is_trial=True, closed_at=None)
    if (lease := held.first()) is not None:
        give_back(lease, outcome=LeaseOutcome.RELEASED, now=now)


def _decide(
    writer: Writer, *, is_admitted: bool, note: str, by: User | None, now: dt.datetime
) -> AdmissionDecision:
    """Store a decision on a locked writer, log it and leave a mail about it to be sent."""
    decision = AdmissionDecision.objects.create(
        writer=writer, is_admitted=is_admitted, note=note, decided_at=now, decided_by=by
    )
    record(
        action="writer.admitted" if is_admitted else "writer.refused",
        subject=f"writer {writer.code}",
        now=now,
        by=by,
    )
    kind = MailKind.ADMITTED if is_admitted else MailKind.REFUSED
    queue_mail(writer=writer, kind=kind, now=now, note=note)
    return decision
