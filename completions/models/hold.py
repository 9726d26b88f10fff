"""Completions kept out of pairs because they seem to give their source away."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from completions.choices import HoldState
from completions.models.completion import Completion


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
