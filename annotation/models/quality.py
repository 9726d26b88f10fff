"""Quality checks, decisions on evaluators, audits of the blinding and guesses of sources."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from access.models import AppendOnlyModel
from annotation.choices import AuditState, CheckKind, Expected, Source
from annotation.models.judge import Judge
from annotation.models.people import Rater
from annotation.models.study import Comparison, Study

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


class BlindingAudit(models.Model):
    """One audit of the blinding of a study: claimed when it starts, completed once, then kept."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="blinding_audits")
    n_pages = models.PositiveIntegerField(help_text="How many pages are replayed at most.")
    seed = models.PositiveIntegerField(help_text="Of the deals that guesses are held against.")
    state = models.CharField(max_length=7, choices=AuditState, default=AuditState.RUNNING)
    n_done = models.PositiveIntegerField(default=0)
    n_total = models.PositiveIntegerField(default=0, help_text="Pages that there are to replay.")
    begun = models.PositiveSmallIntegerField(
        default=0, help_text="How often a worker began it; one whose workers are lost is given up."
    )
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    started_at = models.DateTimeField()
    claimed_at = models.DateTimeField(help_text="When its worker was last heard of.")
    ended_at = models.DateTimeField(null=True, blank=True)
    holds = models.BooleanField(null=True, help_text="Whether nothing but the texts told.")
    report = models.JSONField(default=dict, blank=True)
    error = models.TextField(blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["study"],
                condition=Q(state=AuditState.RUNNING),
                name="blindingaudit_one_under_way",
            ),
            models.CheckConstraint(condition=Q(n_pages__gte=1), name="blindingaudit_pages_wanted"),
            models.CheckConstraint(
                condition=Q(n_done__lte=F("n_total")), name="blindingaudit_progress_within_total"
            ),
            models.CheckConstraint(
                condition=Q(state__in=AuditState.values), name="blindingaudit_state_known"
            ),
            models.CheckConstraint(
                condition=Q(
                    state=AuditState.RUNNING, ended_at__isnull=True, holds__isnull=True, error=""
                )
                | Q(state=AuditState.DONE, ended_at__isnull=False, holds__isnull=False, error="")
                | (
                    Q(state=AuditState.FAILED, ended_at__isnull=False, holds__isnull=True)
                    & ~Q(error="")
                ),
                name="blindingaudit_ended_by_state",
            ),
        )
        indexes = (
            models.Index(
                fields=["id"],
                condition=Q(state=AuditState.RUNNING),
                name="blindingaudit_running",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.state}"


class SourceGuess(AppendOnlyModel):
    """Who one rater guessed to have written one completion that they judged."""

    rater = models.ForeignKey(Rater, models.PROTECT, related_name="source_guesses")
    completion = models.ForeignKey(
        "completions.Completion", models.PROTECT, related_name="source_guesses"
    )
    guess = models.CharField(max_length=7, choices=Source)
    guessed_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "source guesses"
        constraints = (
            models.UniqueConstraint(
                fields=["rater", "completion"], name="sourceguess_once_per_completion"
            ),
            models.CheckConstraint(condition=Q(guess__in=Source.values), name="sourceguess_known"),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.guess}"
