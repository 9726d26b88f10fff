"""Adversarial contexts in the making."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from completions.choices import EscalationProfile, RewriteState, RewriteStep
from completions.models.assistant import Assistant
from completions.models.call import FAILED, ProviderCall
from completions.models.context import Context


class Rewrite(models.Model):
    """The seeker of one regular context made hostile after one profile: wanted, done or dropped."""

    source_context = models.ForeignKey(Context, models.PROTECT, related_name="planned_rewrites")
    profile = models.CharField(max_length=12, choices=EscalationProfile)
    rewriter = models.ForeignKey(Assistant, models.PROTECT, related_name="rewrites")
    hostility_rater = models.ForeignKey(Assistant, models.PROTECT, related_name="rated_rewrites")
    target = models.JSONField(help_text="Wanted hostility of each seeker turn, 0 to 10.")
    measured = models.JSONField(
        default=list, blank=True, help_text="Hostility of each seeker turn as last rated."
    )
    state = models.CharField(max_length=8, choices=RewriteState, default=RewriteState.PLANNED)
    reason = models.TextField(blank=True, help_text="Why it was dropped.")
    context = models.OneToOneField(
        Context, models.PROTECT, null=True, blank=True, related_name="rewrite"
    )
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["source_context", "profile"], name="rewrite_once_per_profile"
            ),
            models.CheckConstraint(
                condition=Q(profile__in=EscalationProfile.values), name="rewrite_profile_known"
            ),
            models.CheckConstraint(
                condition=Q(state=RewriteState.PLANNED, ended_at__isnull=True)
                | (
                    Q(state__in=[RewriteState.ACCEPTED, RewriteState.DROPPED])
                    & Q(ended_at__isnull=False)
                ),
                name="rewrite_ended_with_time",
            ),
            models.CheckConstraint(
                condition=Q(state=RewriteState.ACCEPTED, context__isnull=False)
                | (~Q(state=RewriteState.ACCEPTED) & Q(context__isnull=True)),
                name="rewrite_accepted_with_context",
            ),
            models.CheckConstraint(
                condition=(Q(state=RewriteState.DROPPED) & ~Q(reason=""))
                | (~Q(state=RewriteState.DROPPED) & Q(reason="")),
                name="rewrite_dropped_with_reason",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.source_context_id} {self.profile}"


class RewriteCall(ProviderCall):
    """One question to an assistant about a rewrite: write it, or rate the hostility of one."""

    rewrite = models.ForeignKey(Rewrite, models.PROTECT, related_name="calls")
    step = models.CharField(max_length=5, choices=RewriteStep)
    round = models.PositiveSmallIntegerField(help_text="From 1; a refused answer opens the next.")
    problems = models.JSONField(
        default=list, blank=True, help_text="What the checks found wrong with the answer."
    )

    class Meta(ProviderCall.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *ProviderCall.Meta.constraints,
            models.UniqueConstraint(
                fields=["rewrite", "step", "round"], name="rewritecall_once_per_round"
            ),
            models.CheckConstraint(
                condition=Q(step__in=RewriteStep.values), name="rewritecall_step_known"
            ),
            models.CheckConstraint(condition=Q(round__gte=1), name="rewritecall_round_from_one"),
        )
        indexes = (
            models.Index(
                fields=["id"], condition=Q(ended_at__isnull=True), name="rewritecall_open"
            ),
            models.Index(fields=["ended_at"], condition=FAILED, name="rewritecall_failed"),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.step} {self.round} of {self.rewrite_id}"
