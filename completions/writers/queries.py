"""Reads of the writer's pages, of trials, and of what a message that is sent is compared with."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from django.db.models import (
    Case,
    Count,
    Exists,
    FilteredRelation,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.functions import MD5, Concat
from django.utils.translation import gettext as _

from completions.choices import LeaseOutcome, MessageState, Review, SystemKind, WriterState
from completions.dialogues.display import DialogueView
from completions.dialogues.queries import with_language
from completions.models import (
    Context,
    Dataset,
    Message,
    MessageDecision,
    MessageRevision,
    Writer,
    WriterConsent,
    WritingLease,
)
from completions.writers import assigning, guidelines
from completions.writers.assigning import Stock, WriterStatus

COMPARED = 500  # how many of a writer's own versions a new text is compared with
REVISABLE = (MessageState.WAITING, MessageState.RETURNED, MessageState.ACCEPTED)
STRANDED = (LeaseOutcome.EXPIRED, LeaseOutcome.RELEASED)
Source: TypeAlias = tuple[str, int]
"""What a text is, "message", "completion" or "turn", and which."""
AGREED = (WriterState.PROFILING, WriterState.VETTING, WriterState.ACTIVE)
"""States of people who have agreed and may go on."""
MAY_COME_IN = (*AGREED, WriterState.PAUSED)
"""On pause one gets no dialogue, but a draft that is on its way is still kept."""
KEPT = ("", LeaseOutcome.SUBMITTED)
"""Outcomes of leases that count in a writer's shares: still open, or answered."""


def writer_by_code(code: str) -> Writer | None:
    """Return the writer of that pseudonym, with the dataset and the consent's age, or None."""
    given = WriterConsent.objects.filter(writer=OuterRef("pk"))
    is_outdated = Exists(given) & ~Exists(given.filter(version=guidelines.VERSION))
    writers = Writer.objects.annotate(is_consent_outdated=is_outdated)
    return writers.select_related("dataset").filter(code=code).first()


def is_to_agree_again(writer: Writer) -> bool:
    """Say whether somebody read by ``writer_by_code`` agreed to earlier words than those of now.

    Who may not write, or is simulated, is not asked.
    """
    may_write = writer.state in AGREED and not writer.is_simulated
    return may_write and bool(vars(writer)["is_consent_outdated"])


def open_contexts(writer: Writer) -> QuerySet[Context]:
    """Return contexts in use that want a completion and that the writer never had before."""
    return _never_had(writer).filter(dataset=writer.dataset_id, slots_left__gt=0)


def contexts_to_give(writer: Writer) -> QuerySet[Context]:
    """Return the open contexts that the writer may be given next, the best one first.

    Among equals each writer has an order of their own, so that they do not queue for one row.
    """
    strata, is_even = assigning.next_offer(
        status_of(writer),
        most=writer.dataset.most_adversarial,
        phase=assigning.phase_of(writer.code),
    )
    ranks = (When(stratum=stratum, then=rank) for rank, stratum in enumerate(strata))
    liking, own = Case(*ranks, default=2), MD5(Concat("key", Value(writer.code)))
    order = ("-slots_left", liking) if is_even else (liking, "-slots_left")
    return open_contexts(writer).filter(stratum__in=strata).order_by(*order, own)


def trial_contexts(writer: Writer) -> QuerySet[Context]:
    """Return the dialogues of the vetting set that the newcomer has not had yet, in its order."""
    return _never_had(writer).filter(dataset=writer.dataset.vetting_id).order_by("pk")


def _never_had(writer: Writer) -> QuerySet[Context]:
    had = WritingLease.objects.filter(context=OuterRef("pk"), writer=writer)
    return Context.objects.in_use().filter(~Exists(had))


def status_of(writer: Writer) -> WriterStatus:
    """Count what is open for the writer in each stratum, and what they had of it."""
    mine = FilteredRelation("writing_leases", condition=Q(writing_leases__writer=writer))
    is_open = Q(mine=None, slots_left__gt=0) & ~Q(review=Review.DROPPED)
    rows = (
        Context.objects.filter(dataset=writer.dataset_id)
        .alias(mine=mine)
        .values("stratum")
        .annotate(
            dialogues=Count("pk", filter=is_open),
            slots=Sum("slots_left", filter=is_open, default=0),
            kept=Count("mine", filter=Q(mine__outcome__in=KEPT)),
            given_up=Count("mine", filter=~Q(mine__outcome__in=KEPT)),
            newest=Max("mine"),
        )
    )
    newest = {row["stratum"]: row["newest"] or 0 for row in rows}
    stocks = {
        row["stratum"]: Stock(row["dialogues"], row["slots"], row["kept"], row["given_up"])
        for row in rows
    }
    regular, adversarial = assigning.REGULAR, assigning.ADVERSARIAL
    return WriterStatus(
        regular=stocks.get(regular, Stock()),
        adversarial=stocks.get(adversarial, Stock()),
        was_adversarial=newest.get(adversarial, 0) > newest.get(regular, 0),
    )


def open_writing_lease(writer: Writer) -> WritingLease | None:
    """Return the lease that the writer holds, with its context, or None."""
    return writer.leases.select_related("context").filter(closed_at=None).first()


def desk_counts(writer: Writer) -> dict[str, int]:
    """Count what the writer has sent, and what they can still get (an open draft included).

    ``n_written`` and ``n_waiting`` are of the trial while they are on it; ``n_trial`` are the
    replies that let an admitted writer in.
    """
    on_trial = writer.state == WriterState.VETTING
    sent = Count("pk", filter=Q(is_trial=on_trial, outcome=LeaseOutcome.SUBMITTED))
    trial = Count("pk", filter=Q(is_trial=True, outcome=LeaseOutcome.SUBMITTED))
    held = Count("pk", filter=Q(closed_at=None))
    counts = writer.leases.aggregate(sent=sent, held=held, trial=trial)
    to_come = 0 if writer.dataset.frozen_at else counts["held"] + _n_to_come(writer)
    n_trial = 0 if on_trial else counts["trial"]
    return {"n_written": counts["sent"], "n_waiting": to_come, "n_trial": n_trial}


def _n_to_come(writer: Writer) -> int:
    if writer.state == WriterState.VETTING:
        return trial_contexts(writer).count()
    return assigning.n_to_come(status_of(writer), most=writer.dataset.most_adversarial)


def is_writing(writer: Writer) -> bool:
    """Say whether the writer has agreed and may write, be it on trial."""
    return writer.state in {WriterState.VETTING, WriterState.ACTIVE}


def any_writer(dataset: Dataset) -> Writer | None:
    """Return the writer who was invited first, or None."""
    return dataset.writers.select_related("dataset").order_by("pk").first()


def lease_of(writer: Writer, *, token: uuid.UUID) -> WritingLease | None:
    """Return the writer's lease with this token, with its context and its message, or None.

    As for all that a writer is shown, the dialogue's language comes with it.
    """
    leases = writer.leases.select_related("message__completion").filter(token=token)
    return with_language(leases, "context").first()


def message_of(lease: WritingLease) -> Message | None:
    """Return the message that was sent under the lease, or None."""
    return getattr(lease, "message", None)


def latest_version(message: Message) -> MessageRevision:
    """Return the version that was sent last."""
    return message.revisions.latest("number")


def latest_note(message: Message) -> str:
    """Return what the reviewer who decided last wrote to the writer."""
    return (
        _decisions().filter(revision__message=message).values_list("note", flat=True).first() or ""
    )


def is_taken(lease: WritingLease) -> bool:
    """Say whether a lease was given back, and others have filled the place."""
    return lease.closed_at is not None and not lease.is_trial and lease.context.slots_left == 0


def is_trial_over(lease: WritingLease, *, writer: Writer) -> bool:
    """Say whether the dialogue is one of a trial that its writer is not on any more."""
    return lease.is_trial and writer.state != WriterState.VETTING


def may_change(message: Message, *, writer: Writer) -> bool:
    """Say whether the writer may still send a new version, if the dataset is not frozen."""
    if message.state == MessageState.TRIAL:
        return writer.state == WriterState.VETTING
    completion = message.completion
    is_settled = completion is not None and (completion.fixed_at or completion.erased_at)
    return message.state in REVISABLE and not is_settled


def stranded_leases(writer: Writer) -> QuerySet[WritingLease]:
    """Return leases that ended over a draft which can still be sent, newest first.

    They ran out, or freezing gave them back and the dataset was thawed since.
    """
    sendable = Context.objects.in_use().filter(
        dataset=writer.dataset_id, dataset__frozen_at=None, slots_left__gt=0
    )
    ended = writer.leases.filter(outcome__in=STRANDED, context__in=sendable).exclude(draft="")
    return with_language(ended, "context").order_by("-closed_at", "-pk")


def messages_sent(writer: Writer) -> QuerySet[Message]:
    """Return the writer's messages that still have a text, those changed last first.

    Each has its lease, its completion, and as ``text`` and ``note`` the latest version and the
    note of the latest decision.
    """
    versions = MessageRevision.objects.filter(message=OuterRef("pk")).order_by("-number")
    decisions = _decisions().filter(revision__message=OuterRef("pk"))
    sent = Message.objects.filter(lease__writer=writer).exclude(state=MessageState.ERASED)
    return (
        with_language(sent.select_related("completion"), "lease__context")
        .annotate(
            text=Subquery(versions.values("text")[:1]), note=Subquery(decisions.values("note")[:1])
        )
        .order_by("-changed_at", "-pk")
    )


def texts_of_writer(writer: Writer, *, without: Message | None) -> Iterator[tuple[Source, str]]:
    """Yield what the writer sent last, every version, save those of one message."""
    sent = MessageRevision.objects.filter(message__lease__writer=writer.pk, erased_at=None)
    if without is not None:
        sent = sent.exclude(message=without)
    for pk, text in sent.order_by("-pk").values_list("message", "text")[:COMPARED]:
        yield ("message", pk), text


def texts_of_others(context: Context, writer: Writer) -> Iterator[tuple[Source, str]]:
    """Yield what others wrote for the context: people, every version, and models."""
    sent = MessageRevision.objects.filter(message__lease__context=context, erased_at=None)
    others = sent.exclude(message__lease__writer=writer.pk)
    for pk, text in others.order_by("pk").values_list("message", "text"):
        yield ("message", pk), text
    made = context.completions.filter(writer=None).exclude(system__kind=SystemKind.ORIGINAL)
    for pk, text in made.order_by("pk").values_list("pk", "text"):
        yield ("completion", pk), text


def _decisions() -> QuerySet[MessageDecision]:
    return MessageDecision.objects.order_by("-pk")


@dataclass(frozen=True)
class TrialText:
    """A trial dialogue that is done: every version of what was written for it, the newest last."""

    dialogue: DialogueView
    revisions: tuple[MessageRevision, ...]

    @property
    def is_skipped(self) -> bool:
        """Whether the newcomer passed it over."""
        return not self.revisions


@dataclass(frozen=True)
class TrialState:
    """How far the trial of a newcomer is, with what came of it, in the order of the dialogues."""

    n_dialogues: int
    texts: tuple[TrialText, ...]

    @property
    def n_done(self) -> int:
        """For how many dialogues a message was sent, or that were passed over."""
        return len(self.texts)

    @property
    def n_left(self) -> int:
        """How many dialogues wait for the newcomer."""
        return self.n_dialogues - self.n_done

    @property
    def missing(self) -> str:
        """Why nobody can be admitted on it yet; empty when it is complete."""
        if self.n_left:
            return _("Trial conversations are left to write for.")
        if self.texts and all(text.is_skipped for text in self.texts):
            return _("Every trial conversation was skipped: there is nothing to read.")
        return ""


def trial_of(writer: Writer) -> TrialState:
    """Return how the trial of ``writer`` stands, in four queries at most."""
    dialogues = vetting_dialogues(writer)
    leases = {lease.context_id: lease for lease in _trial_leases(writer)}
    texts = tuple(
        text
        for dialogue in dialogues
        if (lease := leases.get(dialogue.pk)) is not None
        and (text := _trial_text(dialogue, lease)) is not None
    )
    return TrialState(len(dialogues), texts)


def newest_note(writer: Writer) -> str:
    """Return what the admin who decided last about the newcomer wrote to them."""
    notes = writer.admission_decisions.order_by("-pk").values_list("note", flat=True)
    return notes.first() or ""


def vetting_dialogues(writer: Writer) -> list[Context]:
    """Return the dialogues that newcomers to the writer's dataset write for, in their order."""
    vetted = Context.objects.filter(dataset__vetted_datasets=writer.dataset_id)
    return list(vetted.order_by("dialogue__position", "pk"))


def _trial_leases(writer: Writer) -> list[WritingLease]:
    trial = writer.leases.filter(is_trial=True).select_related("message")
    return list(trial.prefetch_related("message__revisions"))


def _trial_text(dialogue: Context, lease: WritingLease) -> TrialText | None:
    """Return what came of a dialogue, or None if nothing did yet.

    One that was given back, as freezing the dataset does, counts as passed over: it never comes
    back, and nobody is to wait for it.
    """
    message = getattr(lease, "message", None)
    if message is None and lease.closed_at is None:
        return None
    revisions = message.revisions.all() if message is not None else ()
    in_order = tuple(sorted(revisions, key=lambda one: one.number))
    return TrialText(DialogueView.of(dialogue.turns), in_order)
