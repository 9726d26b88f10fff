"""The probe at the end, which asks whether a rater sees who wrote a message."""

from django.db import models
from django.db.models import Q

from access.models import AppendOnlyModel
from annotation.choices import Source
from annotation.models.people import Rater


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
