"""The shape that all calls to model providers have in common."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from completions.choices import CallState

ENDED = (CallState.DONE, CallState.INVALID, CallState.FAILED)
FAILED = Q(state__in=[CallState.INVALID, CallState.FAILED])
"""Of calls: it ended without use."""


class ProviderCall(models.Model):
    """A piece of work for a model provider: the row is the queue and the record of the answer."""

    state = models.CharField(max_length=8, choices=CallState, default=CallState.PENDING)
    created_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    retry_at = models.DateTimeField(null=True, blank=True, help_text="Not to be claimed before.")
    attempts = models.PositiveSmallIntegerField(default=0)
    prompt_hash = models.CharField(max_length=64, blank=True)
    asked = models.JSONField(default=dict, blank=True, help_text="Parameters as wanted.")
    honoured = models.JSONField(default=dict, blank=True, help_text="Parameters as sent.")
    raw_answer = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    provider_id = models.CharField(max_length=120, blank=True)
    n_prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    n_completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    cost_usd = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    reserved_usd = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        default=0,
        help_text="The most that the call in flight can cost its run, in US dollars.",
    )
    ttft_ms = models.PositiveIntegerField(null=True, blank=True)
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    error_kind = models.CharField(max_length=40, blank=True)
    error_detail = models.TextField(blank=True)

    class Meta:
        abstract = True
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(
                condition=Q(state__in=CallState.values), name="%(class)s_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=ENDED, ended_at__isnull=False)
                | (~Q(state__in=ENDED) & Q(ended_at__isnull=True)),
                name="%(class)s_ended_with_time",
            ),
            models.CheckConstraint(
                condition=~Q(state=CallState.CLAIMED) | Q(claimed_at__isnull=False),
                name="%(class)s_claimed_with_time",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=[CallState.DONE, CallState.INVALID]) | ~Q(raw_answer=""),
                name="%(class)s_answer_kept",
            ),
            models.CheckConstraint(
                condition=~FAILED | ~Q(error_kind=""),
                name="%(class)s_failure_named",
            ),
            models.CheckConstraint(
                condition=Q(reserved_usd=0) | (Q(reserved_usd__gt=0) & Q(state=CallState.CLAIMED)),
                name="%(class)s_reserves_in_flight",
            ),
        )
