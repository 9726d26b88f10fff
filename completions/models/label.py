"""The shape that all labels of texts have in common."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from access.models import AppendOnlyModel
from completions.choices import Presence


class StoredLabel(AppendOnlyModel):
    """What a model said of one thing that a text may show: a row of the answer to a call.

    Concrete labels have a ``call`` and a column of the codebook's key, named in ``KEY``.
    """

    KEY: ClassVar[str]

    presence = models.CharField(max_length=9, choices=Presence)
    probability = models.FloatField(help_text="That it is present, as the model says.")
    quote = models.TextField(blank=True, help_text="The words of the text that show it.")

    class Meta(AppendOnlyModel.Meta):
        abstract = True
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(
                condition=Q(presence__in=Presence.values), name="%(class)s_presence_known"
            ),
            models.CheckConstraint(
                condition=Q(probability__range=(0, 1)), name="%(class)s_probability_range"
            ),
            models.CheckConstraint(
                condition=~Q(presence=Presence.PRESENT) | ~Q(quote=""),
                name="%(class)s_present_with_quote",
            ),
        )
