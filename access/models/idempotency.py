"""What a program was answered, so that asking again does nothing again."""

from django.db import models
from django.db.models import Q

from access.models.token import ApiToken

LONGEST_KEY = 200


class IdempotencyKey(models.Model):
    """One request of a token under a key of its own choice, and its answer (ADR-0051).

    The row is added before the work and has its answer when the transaction of both ends: nobody
    else ever sees it without.
    """

    token = models.ForeignKey(ApiToken, models.PROTECT, related_name="idempotency_keys")
    key = models.CharField(max_length=LONGEST_KEY)
    request_hash = models.CharField(
        max_length=64, help_text="SHA-256 of the method, the address and what was sent."
    )
    made_at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True, help_text="Of the answer.")
    answer = models.JSONField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["token", "key"], name="idempotencykey_once_per_token"),
            models.CheckConstraint(
                condition=~Q(key="") & ~Q(request_hash=""), name="idempotencykey_names_request"
            ),
            models.CheckConstraint(
                condition=Q(status__isnull=True, answer__isnull=True)
                | Q(status__range=(200, 299), answer__isnull=False),
                name="idempotencykey_keeps_success",
            ),
        )
        indexes = (models.Index(fields=["made_at"], name="idempotencykey_by_age"),)

    def __str__(self) -> str:
        return f"#{self.pk} {self.key}"
