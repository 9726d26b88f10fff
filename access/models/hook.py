"""Whom the site tells of what happens, and the messages that wait: the rows are the queue."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from access.choices import DeliveryState, HookEvent


class Hook(models.Model):
    """An address that is told of chosen events.

    The secret is kept as it is, because it has to sign; it is shown once and forgotten on removal.
    """

    url = models.CharField(max_length=500)
    secret = models.CharField(max_length=80, blank=True)
    events = models.JSONField(help_text="The events it is told of, by name.")
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(condition=~Q(url=""), name="hook_has_address"),
            models.CheckConstraint(
                condition=(Q(removed_at__isnull=True) & ~Q(secret=""))
                | (Q(removed_at__isnull=False, is_active=False) & Q(secret="")),
                name="hook_secret_until_removed",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.url}"


class HookDelivery(models.Model):
    """One event on its way to one hook: what is sent, how often it was tried, what came of it."""

    hook = models.ForeignKey(Hook, models.PROTECT, related_name="deliveries")
    event_id = models.UUIDField(help_text="The same for every hook that is told of the event.")
    event_key = models.CharField(max_length=200, help_text="What makes the event that event.")
    event = models.CharField(max_length=12, choices=HookEvent)
    payload = models.JSONField()
    queued_at = models.DateTimeField()
    wanted_since = models.DateTimeField(help_text="When it was queued, or last asked for again.")
    state = models.CharField(max_length=9, choices=DeliveryState, default=DeliveryState.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    last_status = models.PositiveSmallIntegerField(null=True, blank=True)
    error = models.TextField(blank=True)
    delivered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "hook deliveries"
        constraints = (
            models.UniqueConstraint(
                fields=["hook", "event_key"], name="hookdelivery_once_per_event"
            ),
            models.CheckConstraint(
                condition=Q(state__in=DeliveryState.values), name="hookdelivery_state_known"
            ),
            models.CheckConstraint(
                condition=Q(event__in=HookEvent.values), name="hookdelivery_event_known"
            ),
            models.CheckConstraint(
                condition=(Q(state=DeliveryState.PENDING) & Q(next_attempt_at__isnull=False))
                | (
                    ~Q(state=DeliveryState.PENDING)
                    & Q(next_attempt_at__isnull=True, claimed_at__isnull=True)
                ),
                name="hookdelivery_pending_has_next",
            ),
            models.CheckConstraint(
                condition=(Q(state=DeliveryState.DELIVERED) & Q(delivered_at__isnull=False))
                | (~Q(state=DeliveryState.DELIVERED) & Q(delivered_at__isnull=True)),
                name="hookdelivery_delivered_with_time",
            ),
        )
        indexes = (
            models.Index(
                fields=["next_attempt_at", "id"],
                condition=Q(state=DeliveryState.PENDING),
                name="hookdelivery_waiting",
            ),
            models.Index(fields=["hook", "state"], name="hookdelivery_by_state"),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.event} {self.state}"
