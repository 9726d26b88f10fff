"""Completions and the messages of writers: where they come from, versions, decisions, holds."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from access.models import AppendOnlyModel
from completions.choices import HoldState, MessageState, MessageVerdict, Way
from completions.models.context import Context
from completions.models.system import System
from completions.models.writer import Writer, WritingLease


class Completion(models.Model):
    """One candidate supporter reply to a context."""

    context = models.ForeignKey(Context, models.PROTECT, related_name="completions")
    system = models.ForeignKey(System, models.PROTECT, related_name="completions")
    writer = models.ForeignKey(
        Writer, models.PROTECT, null=True, blank=True, related_name="completions"
    )
    text = models.TextField()
    content_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    fixed_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when a study compares it: its text stays as it is."
    )
    erased_at = models.DateTimeField(
        null=True, blank=True, help_text="When its text was deleted at its writer's wish."
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["context", "system"],
                condition=Q(writer__isnull=True),
                name="completion_once_per_system",
            ),
            models.UniqueConstraint(
                fields=["context", "writer"],
                condition=Q(writer__isnull=False),
                name="completion_once_per_writer",
            ),
            models.CheckConstraint(
                condition=(~Q(text="") & Q(erased_at__isnull=True))
                | Q(text="", erased_at__isnull=False, writer__isnull=False),
                name="completion_text_unless_erased",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.context_id}/{self.system_id}"


class BroughtCompletion(AppendOnlyModel):
    """That a model's completion was brought in from outside: by whom, how, and what they said.

    A completion of a model has this row, or the call that made it here.
    """

    completion = models.OneToOneField(Completion, models.PROTECT, related_name="brought")
    way = models.CharField(max_length=7, choices=Way)
    brought_at = models.DateTimeField()
    brought_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty: by a command on the machine of the site.",
    )
    raw_text = models.TextField(help_text="As it came, with its lines; the filter reads this.")
    model_version = models.CharField(max_length=120, blank=True)
    source = models.CharField(max_length=200, blank=True, help_text="Where the text is from.")
    produced_at = models.DateTimeField(null=True, blank=True)

    class Meta(AppendOnlyModel.Meta):
        constraints = (
            models.CheckConstraint(
                condition=Q(way__in=Way.values), name="broughtcompletion_way_known"
            ),
            models.CheckConstraint(condition=~Q(raw_text=""), name="broughtcompletion_text_kept"),
        )

    def __str__(self) -> str:
        return f"#{self.completion_id} {self.way}"


class Hold(models.Model):
    """That a completion waits for a decision, why, and what was decided."""

    completion = models.OneToOneField(Completion, models.PROTECT, related_name="hold")
    reasons = models.JSONField(help_text='[{"reason": ..., "matched": ...}, ...].')
    rules = models.CharField(max_length=60, help_text="Name and version of the filter.")
    state = models.CharField(max_length=8, choices=HoldState, default=HoldState.HELD)
    held_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    decision_reason = models.TextField(blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(state__in=HoldState.values), name="hold_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state=HoldState.HELD, decided_at__isnull=True, decision_reason="")
                | (~Q(state=HoldState.HELD) & Q(decided_at__isnull=False) & ~Q(decision_reason="")),
                name="hold_decided_with_time_and_reason",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.completion_id} {self.state}"


IN_USE = (MessageState.ACCEPTED, MessageState.WAITING, MessageState.RETURNED, MessageState.ERASED)
"""States in which a message may have a completion: one that was accepted may be revised."""


class Message(models.Model):
    """A writer's message for one dialogue, from the first sending to what became of it."""

    lease = models.OneToOneField(WritingLease, models.PROTECT, related_name="message")
    state = models.CharField(max_length=8, choices=MessageState, default=MessageState.WAITING)
    completion = models.OneToOneField(
        Completion, models.PROTECT, null=True, blank=True, related_name="message"
    )
    sent_at = models.DateTimeField(help_text="When it was sent first.")
    changed_at = models.DateTimeField(help_text="When it was last sent or decided on.")

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(state__in=MessageState.values), name="message_state_known"
            ),
            models.CheckConstraint(
                condition=~Q(state=MessageState.ACCEPTED) | Q(completion__isnull=False),
                name="message_accepted_has_completion",
            ),
            models.CheckConstraint(
                condition=Q(completion__isnull=True) | Q(state__in=IN_USE),
                name="message_completion_only_in_use",
            ),
        )
        indexes = (models.Index(fields=["state", "changed_at"], name="message_queue"),)

    def __str__(self) -> str:
        return f"#{self.pk} {self.state}"


class MessageRevision(AppendOnlyModel):
    """One version of a message, as it was sent, with what a reviewer is shown beside it."""

    message = models.ForeignKey(Message, models.PROTECT, related_name="revisions")
    number = models.PositiveSmallIntegerField(help_text="From 1.")
    text = models.TextField(blank=True)
    content_hash = models.CharField(max_length=64)
    is_declared = models.BooleanField(help_text="The writer declared the words their own here.")
    has_looked_again = models.BooleanField(
        default=False, help_text="It was sent after the writer was asked to look at it again."
    )
    typing_ms = models.PositiveIntegerField(default=0)
    pastes = models.PositiveSmallIntegerField(default=0)
    pasted_characters = models.PositiveIntegerField(default=0)
    flags = models.JSONField(
        default=list, blank=True, help_text='[{"kind": ..., "matched": ..., ...}, ...].'
    )
    rules = models.CharField(max_length=120, help_text="Versions of the rules that flagged it.")
    written_at = models.DateTimeField()
    erased_at = models.DateTimeField(null=True, blank=True)

    class Meta(AppendOnlyModel.Meta):
        constraints = (
            models.UniqueConstraint(
                fields=["message", "number"], name="messagerevision_numbered_once"
            ),
            models.CheckConstraint(
                condition=Q(number__gte=1), name="messagerevision_number_from_one"
            ),
            models.CheckConstraint(
                condition=(~Q(text="") & Q(erased_at__isnull=True))
                | Q(text="", erased_at__isnull=False),
                name="messagerevision_text_unless_erased",
            ),
        )

    def __str__(self) -> str:
        return f"{self.message_id} v{self.number}"


class MessageDecision(AppendOnlyModel):
    """What a reviewer decided about one version of a message."""

    revision = models.ForeignKey(MessageRevision, models.PROTECT, related_name="decisions")
    verdict = models.CharField(max_length=8, choices=MessageVerdict)
    note = models.TextField(blank=True, help_text="The writer reads it.")
    decided_at = models.DateTimeField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta(AppendOnlyModel.Meta):
        constraints = (
            models.CheckConstraint(
                condition=Q(verdict__in=MessageVerdict.values), name="messagedecision_verdict_known"
            ),
            models.CheckConstraint(
                condition=Q(verdict=MessageVerdict.ACCEPTED) | ~Q(note=""),
                name="messagedecision_unless_accepted_with_note",
            ),
        )

    def __str__(self) -> str:
        return f"{self.revision_id} {self.verdict}"
