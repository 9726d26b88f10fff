"""People who write completions."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from completions.choices import WriterState
from completions.models.consent import GivenConsent
from completions.models.context import Context
from completions.models.dataset import Dataset
from completions.models.lease import TimedLease


class Writer(models.Model):
    """A person in a dataset's pool of supporters, known everywhere by a pseudonym."""

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="writers")
    code = models.CharField(max_length=16, unique=True)
    email = models.EmailField(blank=True, help_text="For the invitation only.")
    state = models.CharField(max_length=10, choices=WriterState, default=WriterState.INVITED)
    link_version = models.PositiveSmallIntegerField(
        default=1, help_text="Raise it, and every older invitation link stops working."
    )
    is_simulated = models.BooleanField(default=False)
    invited_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(state__in=WriterState.values), name="writer_state_known"
            ),
            models.UniqueConstraint(
                fields=["dataset", "email"],
                condition=~Q(email=""),
                name="writer_invited_once_per_dataset",
            ),
            models.CheckConstraint(condition=~Q(code=""), name="writer_code_given"),
        )

    def __str__(self) -> str:
        return self.code


class WriterConsent(GivenConsent):
    """What a writer agreed to, and when."""

    writer = models.ForeignKey(Writer, models.PROTECT, related_name="consents")

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["writer", "version", "text_hash"], name="writerconsent_once_per_text"
            ),
        )

    def __str__(self) -> str:
        return f"{self.writer_id} v{self.version}"


class WritingLease(TimedLease):
    """A writer's time-limited claim on one completion of a context, with the draft so far."""

    context = models.ForeignKey(Context, models.PROTECT, related_name="writing_leases")
    writer = models.ForeignKey(Writer, models.PROTECT, related_name="leases")
    draft = models.TextField(blank=True)

    class Meta(TimedLease.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *TimedLease.Meta.constraints,
            models.UniqueConstraint(
                fields=["context", "writer"], name="writinglease_context_once_per_writer"
            ),
            models.UniqueConstraint(
                fields=["writer"],
                condition=Q(closed_at__isnull=True),
                name="writinglease_one_open_per_writer",
            ),
        )

    def __str__(self) -> str:
        return str(self.token)
