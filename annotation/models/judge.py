"""LLM judges and the questions put to them."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from annotation.choices import Side
from annotation.models.comparison import Comparison
from completions.models import ProviderCall


class Judge(models.Model):
    """An LLM that judges, with its settings."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=120, unique=True)
    family = models.SlugField(help_text="Never judges completions of this family.")
    model_id = models.CharField(max_length=120)
    api_base = models.CharField(max_length=200, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    is_simulated = models.BooleanField(
        default=False, help_text="Answered by the offline provider; its verdicts mean nothing."
    )

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=~Q(family="") & ~Q(model_id=""), name="judge_family_and_id_given"
            ),
            models.CheckConstraint(
                condition=Q(is_simulated=False) | Q(name__icontains="simulated"),
                name="judge_simulated_says_so",
            ),
        )

    def __str__(self) -> str:
        return self.slug


class JudgeCall(ProviderCall):
    """A verdict wanted from one judge on one comparison, in one display order.

    The three families are copied here when the call is planned, so that the database itself
    refuses a judge of a system's own family.
    """

    comparison = models.ForeignKey(Comparison, models.PROTECT, related_name="judge_calls")
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="calls")
    first_side = models.CharField(max_length=1, choices=Side)
    sample = models.PositiveSmallIntegerField(default=0)
    judge_family = models.SlugField()
    first_family = models.SlugField(blank=True)
    second_family = models.SlugField(blank=True)

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
        )
        indexes = (
            models.Index(fields=["id"], condition=Q(ended_at__isnull=True), name="judgecall_open"),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.judge_id} on {self.comparison_id}"
