"""What writers send, every version of it, and what reviewers decided."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from access.models import AppendOnlyModel
from completions.choices import MessageState, MessageVerdict
from completions.models.completion import Completion
from completions.models.writer import WritingLease

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
