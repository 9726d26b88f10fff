"""Judgments made elsewhere, apart from the study's own (ADR-0060)."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from access.models import AppendOnlyModel
from annotation.models.study import Comparison, Study


class ExternalBatch(AppendOnlyModel):
    """Judgments that another lab made and sent together, with where they come from."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="external_batches")
    source = models.CharField(max_length=120, help_text="Name of the lab.")
    reference = models.CharField(max_length=80, help_text="What the lab calls the batch.")
    url = models.CharField(
        max_length=200, help_text="Page of the lab, or about the data; it is released."
    )
    licence = models.CharField(max_length=60, help_text="Of these judgments, if an SPDX name.")
    recruitment = models.TextField(help_text="How the raters were found; it is released.")
    consent = models.TextField(help_text="What the raters agreed to; it is released.")
    collected_from = models.DateField()
    collected_until = models.DateField()
    is_simulated = models.BooleanField(help_text="The raters are programs.")
    content_digest = models.CharField(max_length=64, help_text="SHA-256 of what was sent.")
    protocol_hash = models.CharField(max_length=64, help_text="Of the study when it came.")
    received_at = models.DateTimeField()
    received_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", help_text="Whose token it was."
    )

    class Meta:
        verbose_name_plural = "external batches"
        constraints = (
            models.UniqueConstraint(
                fields=["study", "source", "reference"], name="externalbatch_once_per_reference"
            ),
            models.CheckConstraint(
                condition=~Q(source="") & ~Q(reference="") & ~Q(url="") & ~Q(licence=""),
                name="externalbatch_source_named",
            ),
            models.CheckConstraint(
                condition=~Q(recruitment="") & ~Q(consent=""), name="externalbatch_people_told_of"
            ),
            models.CheckConstraint(
                condition=Q(collected_until__gte=F("collected_from")),
                name="externalbatch_collected_in_order",
            ),
            models.CheckConstraint(
                condition=~Q(content_digest="") & ~Q(protocol_hash=""),
                name="externalbatch_hashes_given",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.source}: {self.reference}"


class ExternalJudgment(AppendOnlyModel):
    """A verdict of a lab's rater in the canonical frame; it is no judgment of the study."""

    batch = models.ForeignKey(ExternalBatch, models.PROTECT, related_name="judgments")
    comparison = models.ForeignKey(Comparison, models.PROTECT, related_name="external_judgments")
    rater = models.CharField(max_length=8, help_text="Code of the batch; the lab's id is not kept.")
    verdict = models.SmallIntegerField(null=True, blank=True)
    marks = models.JSONField(
        default=dict, blank=True, help_text="By dimension: who is ahead, or points in likert."
    )
    judged_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["batch", "comparison", "rater"], name="externaljudgment_once_per_rater"
            ),
            models.CheckConstraint(condition=~Q(rater=""), name="externaljudgment_rater_given"),
            models.CheckConstraint(
                condition=Q(verdict__isnull=True) | Q(verdict__range=(-5, 5)),
                name="externaljudgment_verdict_range",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.rater} {self.verdict or 0:+d}"


class ExternalDecision(AppendOnlyModel):
    """A dated decision to leave a batch out, or to take it back; the newest holds."""

    batch = models.ForeignKey(ExternalBatch, models.PROTECT, related_name="decisions")
    is_excluded = models.BooleanField(help_text="No takes an earlier decision back.")
    reason = models.TextField()
    decided_at = models.DateTimeField()
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")

    class Meta:
        constraints = (
            models.CheckConstraint(condition=~Q(reason=""), name="externaldecision_reason_given"),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {'out' if self.is_excluded else 'in'}"
