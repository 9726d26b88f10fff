"""Points of dialogues that might become contexts, and what was found out about them."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from completions.choices import CallState
from completions.models.assistant import Assistant
from completions.models.call import FAILED, ProviderCall
from completions.models.dataset import Dialogue


class Candidate(models.Model):
    """A couplet as the screening rules found it: suitable, or removed with every reason."""

    dialogue = models.ForeignKey(Dialogue, models.PROTECT, related_name="candidates")
    turn_index = models.PositiveSmallIntegerField(
        help_text="Index, in the dialogue's merged turns, of the seeker turn."
    )
    rules = models.CharField(max_length=64, help_text="Version and hash of the rules applied.")
    findings = models.JSONField(
        default=list, blank=True, help_text='[{"rule": ..., "turn": ..., "start": ..., "end": ...}]'
    )
    reasons = models.JSONField(
        default=list, blank=True, help_text="Names of the rules that remove it, in their order."
    )
    is_suitable = models.BooleanField(help_text="Carries a signal, and no rule removes it.")
    screened_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["dialogue", "turn_index"], name="candidate_once_per_turn"
            ),
            models.CheckConstraint(condition=~Q(rules=""), name="candidate_rules_given"),
        )
        indexes = (
            models.Index(
                fields=["dialogue"], condition=Q(is_suitable=True), name="candidate_suitable"
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.dialogue_id}:{self.turn_index}"


class ScreeningCall(ProviderCall):
    """The call by which one assistant gives its opinion of one candidate."""

    candidate = models.ForeignKey(Candidate, models.PROTECT, related_name="screening_calls")
    assistant = models.ForeignKey(Assistant, models.PROTECT, related_name="screening_calls")
    opinion = models.JSONField(
        default=dict, blank=True, help_text="Signals, disqualifiers and whether it would keep it."
    )

    class Meta(ProviderCall.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *ProviderCall.Meta.constraints,
            models.UniqueConstraint(
                fields=["candidate", "assistant"], name="screeningcall_once_per_candidate"
            ),
            models.CheckConstraint(
                condition=(Q(state=CallState.DONE) & ~Q(opinion={}))
                | (~Q(state=CallState.DONE) & Q(opinion={})),
                name="screeningcall_done_with_opinion",
            ),
        )
        indexes = (
            models.Index(
                fields=["id"], condition=Q(ended_at__isnull=True), name="screeningcall_open"
            ),
            models.Index(fields=["ended_at"], condition=FAILED, name="screeningcall_failed"),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.assistant_id} on {self.candidate_id}"
