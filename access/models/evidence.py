"""Evidence that somebody consented, apart from everything else that is known of them."""

import uuid

from django.db import models
from django.db.models import Q

from access.choices import PersonKind
from access.models.append_only import AppendOnlyModel


class ConsentEvidence(AppendOnlyModel):
    """That the person with this keyed hash agreed to this text on this day (ADR-0062).

    No key leads from here to a rater or a writer: the row's own is random, and it keeps the day
    and not the time, which the rows of the person have.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=6, choices=PersonKind)
    scope = models.CharField(max_length=60, help_text="Name of the study or the dataset.")
    person = models.CharField(max_length=64, help_text="Keyed hash of who it was.")
    version = models.CharField(max_length=20)
    text_hash = models.CharField(max_length=64)
    given_on = models.DateField()

    class Meta(AppendOnlyModel.Meta):
        verbose_name_plural = "consent evidence"
        constraints = (
            models.CheckConstraint(
                condition=Q(kind__in=PersonKind.values), name="consentevidence_kind_known"
            ),
            models.CheckConstraint(
                condition=~Q(scope="") & ~Q(person="") & ~Q(text_hash=""),
                name="consentevidence_says_who_to_what",
            ),
            models.UniqueConstraint(
                fields=["person", "version", "text_hash"], name="consentevidence_once_per_text"
            ),
        )
        indexes = (models.Index(fields=["given_on"], name="consentevidence_by_day"),)

    def __str__(self) -> str:
        return f"#{self.pk} {self.kind} {self.scope} v{self.version}"
