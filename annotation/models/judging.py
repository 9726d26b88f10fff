"""Leases of raters, the judgments of all evaluators, reports, and judgments made elsewhere."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from access.models import AppendOnlyModel
from annotation.choices import Protocol, ReportKind, ReportOutcome, Side
from annotation.models.judge import Judge, JudgeCall
from annotation.models.people import Rater
from annotation.models.quality import QualityCheck
from annotation.models.study import Comparison, Study
from completions.models import TimedLease


class Lease(TimedLease):
    """A rater's time-limited claim on one slot of a comparison, with the sides as drawn."""

    comparison = models.ForeignKey(Comparison, models.PROTECT, related_name="leases")
    rater = models.ForeignKey(Rater, models.PROTECT, related_name="leases")
    first_side = models.CharField(max_length=1, choices=Side)
    number = models.PositiveIntegerField(
        help_text="Which of the rater's leases it is, from 1; fixes the random draws for it."
    )
    quality_check = models.ForeignKey(
        QualityCheck, models.PROTECT, null=True, blank=True, related_name="leases"
    )
    repeats = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="repeated_by",
        help_text="The same rater's earlier lease whose pair is shown again, sides exchanged.",
    )
    is_screening = models.BooleanField(default=False)
    # What the side was drawn from, so that anybody can draw it again (ADR-0005).
    pair_first_as_a = models.IntegerField(default=0)
    pair_first_as_b = models.IntegerField(default=0)
    rater_first_as_a = models.IntegerField(default=0)
    rater_first_as_b = models.IntegerField(default=0)
    recent_ms = models.JSONField(
        default=list,
        blank=True,
        help_text="How long the rater's last answers before it were in view, newest last, capped.",
    )
    sampling_probability = models.FloatField(
        null=True, blank=True, help_text="With which an adaptive plan drew this comparison."
    )
    paused_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when the rater is on a break."
    )
    paused_ms = models.PositiveBigIntegerField(default=0, help_text="Breaks that are over.")

    class Meta(TimedLease.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *TimedLease.Meta.constraints,
            models.UniqueConstraint(
                fields=["rater"],
                condition=Q(closed_at__isnull=True),
                name="lease_one_open_per_rater",
            ),
            models.UniqueConstraint(
                fields=["comparison", "rater"],
                condition=Q(quality_check__isnull=True, repeats__isnull=True),
                name="lease_comparison_once_per_rater",
            ),
            models.UniqueConstraint(fields=["rater", "number"], name="lease_number_once_per_rater"),
            models.UniqueConstraint(
                fields=["repeats"],
                condition=Q(repeats__isnull=False),
                name="lease_repeated_once",
            ),
            models.CheckConstraint(
                condition=Q(quality_check__isnull=True) | Q(repeats__isnull=True),
                name="lease_check_or_repeat",
            ),
            models.CheckConstraint(
                condition=Q(is_screening=False) | Q(quality_check__isnull=False),
                name="lease_screens_with_a_check",
            ),
            models.CheckConstraint(
                condition=Q(sampling_probability__isnull=True)
                | Q(sampling_probability__gt=0, sampling_probability__lte=1),
                name="lease_probability_range",
            ),
            models.UniqueConstraint(
                fields=["quality_check", "rater"],
                condition=Q(quality_check__isnull=False),
                name="lease_check_once_per_rater",
            ),
            models.CheckConstraint(
                condition=Q(first_side__in=Side.values), name="lease_side_known"
            ),
        )

    def __str__(self) -> str:
        return str(self.token)

    @property
    def is_main(self) -> bool:
        """Whether its answer counts and it holds a slot: no check and no repeat does."""
        return self.quality_check_id is None and self.repeats_id is None


class Judgment(AppendOnlyModel):
    """One evaluator's answer to one comparison, in the canonical frame; never edited.

    ``verdict`` is positive when the first completion is better. On the preference scale it runs
    from -2 to 2 with 0 for about the same; on the rubric scale its size is the strength, 1 to 5.
    A likert answer has no verdict: its marks are the ratings of the one completion.
    """

    comparison = models.ForeignKey(Comparison, models.PROTECT, related_name="judgments")
    rater = models.ForeignKey(
        Rater, models.PROTECT, null=True, blank=True, related_name="judgments"
    )
    lease = models.ForeignKey(
        Lease, models.PROTECT, null=True, blank=True, related_name="judgments"
    )
    judge = models.ForeignKey(
        Judge, models.PROTECT, null=True, blank=True, related_name="judgments"
    )
    judge_call = models.OneToOneField(
        JudgeCall, models.PROTECT, null=True, blank=True, related_name="judgment"
    )
    protocol = models.CharField(max_length=12, choices=Protocol)
    verdict = models.SmallIntegerField(null=True, blank=True)
    first_side = models.CharField(max_length=1, choices=Side)
    rationale = models.TextField(blank=True)
    chips = models.TextField(
        blank=True, help_text="Keys of the reasons that the rater ticked, a space between them."
    )
    shown_at = models.DateTimeField()
    submitted_at = models.DateTimeField()
    hidden_ms = models.PositiveIntegerField(
        default=0, help_text="Time the page was hidden, as the page reported it, bounded."
    )
    paused_ms = models.PositiveBigIntegerField(default=0, help_text="Time on breaks.")
    opened_earlier = models.BooleanField(
        null=True,
        blank=True,
        help_text="Whether folded turns were opened; empty: none were folded, or no script ran.",
    )
    is_surplus = models.BooleanField(
        default=False, help_text="Came after its slot was given away: kept, not counted."
    )
    revises = models.OneToOneField(
        "self", models.PROTECT, null=True, blank=True, related_name="revision"
    )
    protocol_hash = models.CharField(max_length=64)

    class Meta:
        indexes = (models.Index(fields=["submitted_at", "id"], name="judgment_by_time"),)
        constraints = (
            models.CheckConstraint(
                condition=Q(
                    rater__isnull=False,
                    lease__isnull=False,
                    judge__isnull=True,
                    judge_call__isnull=True,
                )
                | Q(
                    rater__isnull=True,
                    lease__isnull=True,
                    judge__isnull=False,
                    judge_call__isnull=False,
                ),
                name="judgment_by_a_rater_or_a_judge",
            ),
            models.CheckConstraint(
                condition=Q(protocol=Protocol.PREFERENCE, verdict__range=(-2, 2))
                | (Q(protocol=Protocol.RUBRIC, verdict__range=(-5, 5)) & ~Q(verdict=0))
                | Q(protocol=Protocol.LIKERT, verdict__isnull=True),
                name="judgment_verdict_on_scale",
            ),
            models.CheckConstraint(
                condition=Q(first_side__in=Side.values), name="judgment_side_known"
            ),
            models.CheckConstraint(
                condition=Q(submitted_at__gte=F("shown_at")), name="judgment_shown_before_submitted"
            ),
            models.UniqueConstraint(
                fields=["lease"],
                condition=Q(revises__isnull=True),
                name="judgment_once_per_lease",
            ),
            models.CheckConstraint(condition=~Q(protocol_hash=""), name="judgment_protocol_named"),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.verdict or 0:+d}"


class DimensionMark(AppendOnlyModel):
    """Which completion is ahead on one dimension, in the canonical frame; 0 is neither.

    Of a likert answer it is the rating of the one completion, 1 to 5.
    """

    judgment = models.ForeignKey(Judgment, models.PROTECT, related_name="marks")
    dimension = models.CharField(max_length=20, help_text="Key of the rubric's dimension.")
    advantage = models.SmallIntegerField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["judgment", "dimension"], name="dimensionmark_once_per_judgment"
            ),
            models.CheckConstraint(
                condition=Q(advantage__range=(-5, 5)), name="dimensionmark_advantage_range"
            ),
            models.CheckConstraint(
                condition=~Q(dimension=""), name="dimensionmark_dimension_given"
            ),
        )

    def __str__(self) -> str:
        return f"{self.judgment_id} {self.dimension}{self.advantage:+d}"


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


class ExternalBatch(AppendOnlyModel):
    """Judgments that another lab made and sent together, with where they come from (ADR-0060)."""

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
