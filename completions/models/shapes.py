"""Abstract models: calls to providers, endpoints, labels, leases and consents."""

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from access.models import AppendOnlyModel
from completions.choices import CallState, LeaseOutcome, Presence

ENDED = (CallState.DONE, CallState.INVALID, CallState.FAILED)
FAILED = Q(state__in=[CallState.INVALID, CallState.FAILED])
"""Of calls: it ended without use."""


class LabelSample(models.Model):
    """A stratified sample of what a model labelled, which two people label unseen by each other."""

    codebook = models.CharField(max_length=60, help_text="Name and version.")
    seed = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        abstract = True
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(condition=~Q(seed=""), name="%(class)s_seed_given"),
        )


class SampledItem(models.Model):
    """One item of a sample, at its place in the order."""

    position = models.PositiveIntegerField(help_text="From 0, in seeded order.")

    class Meta:
        abstract = True
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.UniqueConstraint(
                fields=["spot_check", "position"], name="%(class)s_position_once"
            ),
        )


class PeoplesLabels(AppendOnlyModel):
    """What a person finds in one item of a sample; the newest row of each person holds.

    Two people label each item; an adjudication settles what they disagree on. ``FOUND`` names the
    field with the keys of the codebook that are present.
    """

    FOUND: ClassVar[str]

    is_adjudication = models.BooleanField(default=False)
    note = models.TextField(blank=True)
    labelled_at = models.DateTimeField()

    class Meta(AppendOnlyModel.Meta):
        abstract = True

    @property
    def found(self) -> list[str]:
        """The keys of the codebook that are present."""
        keys: list[str] = getattr(self, self.FOUND)
        return keys


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
        indexes: ClassVar[tuple[models.Index, ...]] = (
            models.Index(fields=["id"], condition=Q(ended_at__isnull=True), name="%(class)s_open"),
            models.Index(fields=["ended_at"], condition=FAILED, name="%(class)s_failed"),
        )


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


class GivenConsent(AppendOnlyModel):
    """What a person agreed to, and when: kept as evidence, never changed."""

    version = models.CharField(max_length=20)
    text_hash = models.CharField(max_length=64)
    given_at = models.DateTimeField()

    class Meta(AppendOnlyModel.Meta):
        abstract = True
