"""Completions that were not made here."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from access.models import AppendOnlyModel
from completions.choices import Way
from completions.models.completion import Completion


class BroughtCompletion(AppendOnlyModel):
    """That a model's completion was brought in from outside: by whom, how, and what they said.

    A completion of a model has this row, or the call that made it here.
    """

    completion = models.OneToOneField(Completion, models.PROTECT, related_name="brought")
    way = models.CharField(max_length=7, choices=Way)
    brought_at = models.DateTimeField()
    brought_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    raw_text = models.TextField(help_text="As it came, with its lines; the filter reads this.")
    model_version = models.CharField(max_length=120, blank=True)
    source = models.CharField(max_length=200, blank=True, help_text="Where the text is from.")
    produced_at = models.DateTimeField(null=True, blank=True)

    class Meta(AppendOnlyModel.Meta):
        constraints = (
            models.CheckConstraint(
                condition=Q(way__in=Way.values), name="broughtcompletion_way_known"
            ),
            models.CheckConstraint(condition=~Q(raw_text=""), name="broughtcompletion_text_kept"),
        )

    def __str__(self) -> str:
        return f"#{self.completion_id} {self.way}"
