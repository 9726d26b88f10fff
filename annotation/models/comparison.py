"""The unit of judging work."""

from django.db import models
from django.db.models import F, Q

from annotation.choices import Purpose
from annotation.models.study import Study
from completions.models import Completion


class Comparison(models.Model):
    """Two completions of one context, stored once, in canonical order.

    In a study of the likert protocol there is only the first: each completion is rated alone.
    """

    study = models.ForeignKey(Study, models.PROTECT, related_name="comparisons")
    context = models.ForeignKey("completions.Context", models.PROTECT, related_name="comparisons")
    first = models.ForeignKey("completions.Completion", models.PROTECT, related_name="+")
    second = models.ForeignKey(
        "completions.Completion", models.PROTECT, null=True, blank=True, related_name="+"
    )
    purpose = models.CharField(max_length=5, choices=Purpose, default=Purpose.MAIN)
    key = models.CharField(
        max_length=24, help_text="Stable public name, derived from the two contents."
    )
    position = models.PositiveIntegerField(
        help_text="Seeded place in the order in which comparisons are handed out."
    )
    # The counters are signed, so that the constraints below, and not nameless ones, refuse.
    slots_left = models.SmallIntegerField(
        help_text="Judgments by people still wanted and not leased; changed under the row's lock."
    )
    shown_first_as_a = models.IntegerField(
        default=0, help_text="Leases, open or answered, that drew the first completion as A."
    )
    shown_first_as_b = models.IntegerField(default=0)
    weight = models.FloatField(
        default=1.0, help_text="How eagerly an adaptive plan hands it out; relative to the others."
    )
    held_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when reports keep it from everybody."
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["study", "first", "second"], name="comparison_pair_once"
            ),
            models.UniqueConstraint(
                fields=["study", "first"],
                condition=Q(second__isnull=True),
                name="comparison_completion_alone_once",
            ),
            models.CheckConstraint(
                condition=Q(second__isnull=True) | Q(first__lt=F("second")),
                name="comparison_canonical_order",
            ),
            models.CheckConstraint(condition=Q(weight__gt=0), name="comparison_weight_positive"),
            models.CheckConstraint(
                condition=Q(purpose__in=Purpose.values), name="comparison_purpose_known"
            ),
            models.CheckConstraint(
                condition=Q(slots_left__gte=0), name="comparison_slots_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(shown_first_as_a__gte=0, shown_first_as_b__gte=0),
                name="comparison_shown_not_negative",
            ),
        )
        indexes = (
            models.Index(
                fields=["study", "position", "id"],
                condition=Q(slots_left__gt=0, purpose=Purpose.MAIN, held_at__isnull=True),
                name="comparison_open",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.first_id} vs {self.second_id}"

    @property
    def pair(self) -> tuple[Completion, Completion]:
        """Both completions of what is known to be a pair.

        Raises
        ------
        ValueError
            If the one completion is rated alone.
        """
        if self.second is None:
            msg = f"comparison {self.key} is of one completion alone"
            raise ValueError(msg)
        return self.first, self.second

    @property
    def is_erased(self) -> bool:
        """Whether a text of it was deleted at its writer's wish."""
        return any(one.erased_at is not None for one in self.completions)

    @property
    def completions(self) -> tuple[Completion, ...]:
        """The two completions, or the one that is rated alone."""
        return (self.first,) if self.second is None else (self.first, self.second)
