"""Quality checks, and decisions to leave an evaluator out of the analysis."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from access.models import AppendOnlyModel
from annotation.choices import CheckKind, Expected
from annotation.models.comparison import Comparison
from annotation.models.judge import Judge
from annotation.models.people import Rater

OF_PAIRS = (Expected.FIRST, Expected.SECOND)


class QualityCheck(models.Model):
    """A comparison planted because its answer is known; it looks like any other."""

    comparison = models.ForeignKey(Comparison, models.PROTECT, related_name="quality_checks")
    kind = models.CharField(max_length=10, choices=CheckKind)
    expected = models.CharField(max_length=6, choices=Expected)
    dimension = models.CharField(
        max_length=20, blank=True, help_text="The rubric's dimension that it is about, if one."
    )
    is_active = models.BooleanField(default=True, help_text="No: it is not handed out any more.")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["comparison"], name="qualitycheck_once_per_comparison"),
            models.CheckConstraint(
                condition=Q(kind__in=CheckKind.values), name="qualitycheck_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(expected__in=OF_PAIRS)
                | (Q(expected__in=(Expected.HIGH, Expected.LOW)) & ~Q(dimension="")),
                name="qualitycheck_answer_known",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.kind}"


class Exclusion(AppendOnlyModel):
    """A dated decision to leave an evaluator out of the analysis set, or to take them back."""

    rater = models.ForeignKey(
        Rater, models.PROTECT, null=True, blank=True, related_name="exclusions"
    )
    judge = models.ForeignKey(
        Judge, models.PROTECT, null=True, blank=True, related_name="exclusions"
    )
    is_excluded = models.BooleanField(help_text="No takes an earlier decision back.")
    rule = models.CharField(max_length=60, help_text="Name and version of the rule applied.")
    evidence = models.JSONField(default=dict, blank=True)
    reason = models.TextField(blank=True)
    decided_at = models.DateTimeField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(rater__isnull=False, judge__isnull=True)
                | Q(rater__isnull=True, judge__isnull=False),
                name="exclusion_of_a_rater_or_a_judge",
            ),
            models.CheckConstraint(condition=~Q(rule=""), name="exclusion_rule_named"),
            models.CheckConstraint(
                condition=Q(is_excluded=True) | (Q(decided_by__isnull=False) & ~Q(reason="")),
                name="exclusion_taken_back_by_someone_with_reason",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {'out' if self.is_excluded else 'in'} by {self.rule}"
