"""The shape that a rater's and a writer's consent have in common."""

from django.db import models

from access.models import AppendOnlyModel


class GivenConsent(AppendOnlyModel):
    """What a person agreed to, and when: kept as evidence, never changed."""

    version = models.CharField(max_length=20)
    text_hash = models.CharField(max_length=64)
    given_at = models.DateTimeField()

    class Meta(AppendOnlyModel.Meta):
        abstract = True
