"""Which rationales may be released: what was found in each, and what somebody decided."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from access.models import AppendOnlyModel
from annotation.choices import TextOutcome, TextState
from annotation.models.judging import Judgment


class RationaleScan(models.Model):
    """What the rules on personal data found in one judgment's rationale, and how it stands."""

    judgment = models.OneToOneField(Judgment, models.PROTECT, related_name="scan")
    rules = models.CharField(max_length=60, help_text="Version of the rules that read it last.")
    text_hash = models.CharField(max_length=64, help_text="SHA-256 of the text that was read.")
    passages = models.JSONField(default=list, blank=True, help_text="Kind, start, end of each.")
    n_passages = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=8, choices=TextState)
    scanned_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(state__in=TextState.values), name="rationalescan_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=(TextState.RELEASED, TextState.WITHHELD))
                | Q(state=TextState.CLEAN, n_passages=0)
                | Q(state__in=(TextState.WAITING, TextState.MASKED), n_passages__gt=0),
                name="rationalescan_state_fits_passages",
            ),
            models.CheckConstraint(
                condition=~Q(rules="") & ~Q(text_hash=""), name="rationalescan_says_what_read_what"
            ),
        )
        indexes = (
            models.Index(
                fields=["judgment"],
                condition=Q(state=TextState.WAITING),
                name="rationalescan_waiting",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.judgment_id} {self.state}"


class RationaleDecision(AppendOnlyModel):
    """What somebody decided about a judgment's rationale; the newest holds."""

    judgment = models.ForeignKey(Judgment, models.PROTECT, related_name="text_decisions")
    outcome = models.CharField(max_length=8, choices=TextOutcome)
    passages = models.JSONField(default=list, blank=True, help_text="As they were marked then.")
    reason = models.TextField(blank=True)
    decided_at = models.DateTimeField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(outcome__in=TextOutcome.values), name="rationaledecision_outcome_known"
            ),
        )

    def __str__(self) -> str:
        return f"#{self.judgment_id} {self.outcome}"
