"""Figures of raters, kept because all judgments have to be read for them: see ADR-0068."""

from django.db import models
from django.db.models import F, Q


class Measurement(models.Model):
    """When the raters of a study were measured last, and at what pace they judge together."""

    study = models.OneToOneField("annotation.Study", models.PROTECT, related_name="measurement")
    as_of = models.DateTimeField(help_text="Of the judgments that were read.")
    n_answers = models.PositiveIntegerField(help_text="Answers that count for ratings.")
    median_seconds = models.FloatField(
        null=True, blank=True, help_text="Active time of an answer, over all of them."
    )

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(median_seconds__isnull=True) | Q(median_seconds__gt=0),
                name="measurement_seconds_positive",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.study_id} {self.as_of:%Y-%m-%d %H:%M}"


class RaterFigures(models.Model):
    """What was measured of one rater, and what the rules found; decisions are not kept here."""

    measurement = models.ForeignKey(Measurement, models.PROTECT, related_name="figures")
    rater = models.OneToOneField("annotation.Rater", models.PROTECT, related_name="figures")
    n_answers = models.PositiveIntegerField()
    n_checks = models.PositiveIntegerField()
    n_passed = models.PositiveIntegerField()
    median_seconds = models.FloatField(null=True, blank=True)
    share_a = models.FloatField(null=True, blank=True)
    infit = models.FloatField(null=True, blank=True)
    agreement = models.FloatField(null=True, blank=True)
    last_at = models.DateTimeField(null=True, blank=True, help_text="Of the last answer.")
    findings = models.JSONField(default=list, blank=True)

    class Meta:
        verbose_name_plural = "rater figures"
        constraints = (
            models.CheckConstraint(
                condition=Q(n_passed__lte=F("n_checks")), name="raterfigures_passed_within_checks"
            ),
        )

    def __str__(self) -> str:
        return f"#{self.rater_id} of measurement #{self.measurement_id}"
