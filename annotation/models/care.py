"""Reports of content that should not be shown, and what was decided about them."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from access.models import AppendOnlyModel
from annotation.choices import ReportKind, ReportOutcome
from annotation.models.judging import Lease
from annotation.models.people import Rater
from annotation.models.study import Study


class Report(AppendOnlyModel):
    """One rater's word that a dialogue upset them or should not be shown."""

    rater = models.ForeignKey(Rater, models.PROTECT, related_name="reports")
    context = models.ForeignKey("completions.Context", models.PROTECT, related_name="reports")
    lease = models.ForeignKey(Lease, models.PROTECT, related_name="reports")
    kind = models.CharField(max_length=7, choices=ReportKind)
    text = models.TextField(blank=True)
    reported_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["rater", "context"], name="report_once_per_rater_and_context"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=ReportKind.values), name="report_kind_known"
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.kind}"


class ReportDecision(AppendOnlyModel):
    """What an admin decided about a reported context of a study; the newest one holds."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="report_decisions")
    context = models.ForeignKey(
        "completions.Context", models.PROTECT, related_name="report_decisions"
    )
    outcome = models.CharField(max_length=8, choices=ReportOutcome)
    reason = models.TextField()
    decided_at = models.DateTimeField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(outcome__in=ReportOutcome.values), name="reportdecision_outcome_known"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="reportdecision_reason_given"),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.outcome}"


class ReportAlert(models.Model):
    """A message about a report that waits to be sent to the admins, or was sent."""

    report = models.OneToOneField(Report, models.PROTECT, related_name="alert")
    created_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        indexes = (
            models.Index(
                fields=["id"], condition=Q(sent_at__isnull=True), name="reportalert_waiting"
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} of {self.report_id}"
