"""The shape that a rater's and a writer's claim have in common."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from completions.choices import LeaseOutcome


class TimedLease(models.Model):
    """A person's time-limited claim on one slot, known outside by an opaque token."""

    token = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    issued_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=10, choices=LeaseOutcome, blank=True)
    skip_reason = models.CharField(max_length=200, blank=True)

    class Meta:
        abstract = True
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("issued_at")), name="%(class)s_positive_length"
            ),
            models.CheckConstraint(
                condition=Q(closed_at__isnull=True, outcome="")
                | Q(closed_at__isnull=False, outcome__in=LeaseOutcome.values),
                name="%(class)s_closed_with_outcome",
            ),
            models.CheckConstraint(
                condition=Q(skip_reason="") | Q(outcome=LeaseOutcome.SKIPPED),
                name="%(class)s_reason_only_when_skipped",
            ),
        )
