"""The shape that all language models we may call have in common."""

from typing import ClassVar

from django.db import models
from django.db.models import Q


class Endpoint(models.Model):
    """A language model under a name of ours: how LiteLLM reaches it and what it needs set."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=120, unique=True)
    model_id = models.CharField(max_length=120)
    api_base = models.CharField(max_length=200, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    is_simulated = models.BooleanField(
        default=False, help_text="Answered by the offline provider; what it says means nothing."
    )

    class Meta:
        abstract = True
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(condition=~Q(model_id=""), name="%(class)s_model_given"),
            # Last: what follows a LIKE is lost on Django's reader of SQLite's schema.
            models.CheckConstraint(
                condition=Q(is_simulated=False) | Q(name__icontains="simulated"),
                name="%(class)s_simulated_says_so",
            ),
        )

    def __str__(self) -> str:
        return self.slug
