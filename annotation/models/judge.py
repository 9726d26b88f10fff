"""LLM judges and the questions put to them."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from access.nudges import Work
from annotation.choices import Side, StudyState
from annotation.models.study import Comparison, Study
from completions.models import Endpoint, ProviderCall, Run


class Judge(Endpoint):
    """An LLM that judges, with its settings."""

    family = models.SlugField(help_text="Never judges completions of this family.")

    class Meta(Endpoint.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(condition=~Q(family=""), name="judge_family_given"),
            *Endpoint.Meta.constraints,
        )


class JudgeRun(Run):
    """A run that puts the comparisons of a study to LLM judges.

    With ``both_orders`` each is asked twice, the completions exchanged; ``samples`` is how often
    each order is asked.
    """

    kind = "judges"
    work = Work.ASK_JUDGES
    made_while = Q(comparison__study__state=StudyState.OPEN)
    study = models.ForeignKey(Study, models.PROTECT, related_name="judge_runs")
    both_orders = models.BooleanField(default=False)
    samples = models.PositiveSmallIntegerField(default=1)

    class Meta(Run.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *Run.Meta.constraints,
            models.CheckConstraint(
                condition=Q(samples__range=(1, 100)), name="judgerun_samples_range"
            ),
        )


class JudgeCall(ProviderCall):
    """A verdict wanted from one judge on one comparison, in one display order.

    The three families are copied here when the call is planned, so that the database itself
    refuses a judge of a system's own family.
    """

    run = models.ForeignKey(JudgeRun, models.PROTECT, null=True, blank=True, related_name="calls")
    comparison = models.ForeignKey(Comparison, models.PROTECT, related_name="judge_calls")
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="calls")
    first_side = models.CharField(max_length=1, choices=Side)
    sample = models.PositiveSmallIntegerField(default=0)
    judge_family = models.SlugField()
    first_family = models.SlugField(blank=True)
    second_family = models.SlugField(blank=True)
    first_probability = models.FloatField(
        null=True,
        blank=True,
        help_text="That the first completion wins, from the provider's log probabilities.",
    )

    class Meta(ProviderCall.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *ProviderCall.Meta.constraints,
            models.UniqueConstraint(
                fields=["comparison", "judge", "first_side", "sample"], name="judgecall_once"
            ),
            models.CheckConstraint(
                condition=Q(first_side__in=Side.values), name="judgecall_side_known"
            ),
            models.CheckConstraint(
                condition=~Q(judge_family="")
                & ~Q(judge_family=F("first_family"))
                & ~Q(judge_family=F("second_family")),
                name="judgecall_not_own_family",
            ),
            models.CheckConstraint(
                condition=Q(first_probability__isnull=True) | Q(first_probability__range=(0, 1)),
                name="judgecall_probability_range",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.judge_id} on {self.comparison_id}"
