"""Reads about the trial of newcomers: how far they are, and what an admin reads of it."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from completions.choices import WriterState
from completions.dialogues.display import DialogueView
from completions.models import Context, MessageRevision, Writer, WritingLease


@dataclass(frozen=True)
class TrialText:
    """A trial dialogue that is done: every version of what was written for it, the newest last."""

    dialogue: DialogueView
    revisions: tuple[MessageRevision, ...]
    skip_reason: str = ""

    @property
    def is_skipped(self) -> bool:
        """Whether the newcomer passed it over."""
        return not self.revisions


@dataclass(frozen=True)
class TrialState:
    """How far the trial of a newcomer is, with what came of it, in the order of the dialogues."""

    n_dialogues: int
    is_on_trial: bool
    texts: tuple[TrialText, ...]

    @property
    def n_done(self) -> int:
        """For how many dialogues a message was sent, or that were passed over."""
        return len(self.texts)

    @property
    def is_waiting(self) -> bool:
        """Whether an admin is to read it now."""
        return self.is_on_trial and not self.missing

    @property
    def n_sent(self) -> int:
        """For how many dialogues something was sent."""
        return sum(not text.is_skipped for text in self.texts)

    @property
    def n_skipped(self) -> int:
        """How many dialogues were passed over."""
        return self.n_done - self.n_sent

    @property
    def n_left(self) -> int:
        """How many dialogues wait for the newcomer."""
        return self.n_dialogues - self.n_done

    @property
    def missing(self) -> str:
        """Why nobody can be admitted on it yet; empty when it is complete."""
        if self.n_left:
            return _("Trial conversations are left to write for.")
        return (
            ""
            if self.n_sent or not self.n_dialogues
            else _("Every trial conversation was skipped: there is nothing to read.")
        )


def trial_of(writer: Writer) -> TrialState:
    """Return how the trial of ``writer`` stands, in four queries at most."""
    dialogues = trial_contexts(writer)
    leases = {lease.context_id: lease for lease in _leases(writer)}
    texts = tuple(
        text
        for dialogue in dialogues
        if (lease := leases.get(dialogue.pk)) is not None
        and (text := _text(dialogue, lease)) is not None
    )
    is_on_trial = writer.state == WriterState.VETTING
    return TrialState(n_dialogues=len(dialogues), is_on_trial=is_on_trial, texts=texts)


def newest_note(writer: Writer) -> str:
    """Return what the admin who decided last about the newcomer wrote to them."""
    notes = writer.admission_decisions.order_by("-pk").values_list("note", flat=True)
    return notes.first() or ""


def trial_contexts(writer: Writer) -> list[Context]:
    """Return the dialogues that newcomers to the writer's dataset write for, in their order."""
    vetted = Context.objects.filter(dataset__vetted_datasets=writer.dataset_id)
    return list(vetted.order_by("dialogue__position", "pk"))


def _leases(writer: Writer) -> list[WritingLease]:
    trial = writer.leases.filter(is_trial=True).select_related("message")
    return list(trial.prefetch_related("message__revisions"))


def _text(dialogue: Context, lease: WritingLease) -> TrialText | None:
    """Return what came of a dialogue, or None if nothing did yet.

    One that was given back, as freezing the dataset does, counts as passed over: it never comes
    back, and nobody is to wait for it.
    """
    message = getattr(lease, "message", None)
    if message is None and lease.closed_at is None:
        return None
    revisions = message.revisions.all() if message is not None else ()
    in_order = tuple(sorted(revisions, key=lambda one: one.number))
    return TrialText(DialogueView.of(dialogue.turns), in_order, lease.skip_reason)
