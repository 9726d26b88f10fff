"""LLM judges and the questions put to them."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from annotation.choices import Side
from annotation.models.comparison import Comparison
from completions.models import Endpoint, ProviderCall


class Judge(Endpoint):
    """An LLM that judges, with its settings."""

    family = models.SlugField(help_text="Never judges completions of this family.")

    class Meta(Endpoint.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(condition=~Q(family=""), name="judge_family_given"),
            *Endpoint.Meta.constraints,
        )


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
