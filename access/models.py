"""Members, tokens, the log, evidence of consent, webhooks, answers to repeated requests."""

import datetime as dt
import re
import uuid
from collections.abc import Collection, Iterable
from itertools import takewhile
from typing import NoReturn, TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from access.choices import DeliveryState, HookEvent, PersonKind, Role, Scope, stored_form


class Member(models.Model):
    """A user's role; a user without one, unless a superuser, has no business in the console."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.PROTECT, related_name="member")
    role = models.CharField(max_length=7, choices=Role)
    since = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(role__in=Role.values), name="member_role_known"),
        )

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"


LONGEST = dt.timedelta(days=366)


class ApiToken(models.Model):
    """A key with which a program acts for a member, within its scopes and the member's role."""

    name = models.CharField(max_length=80, help_text="What it is for.")
    prefix = models.CharField(max_length=12, help_text="Its beginning, to tell it from others.")
    secret_hash = models.CharField(
        max_length=64, unique=True, help_text="SHA-256; the token itself is stored nowhere."
    )
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="api_tokens")
    scopes = models.CharField(max_length=200, help_text="With spaces between.")
    study = models.SlugField(
        blank=True, help_text="The one study that it is for, by its slug; empty: all of them."
    )
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(
        null=True, blank=True, help_text="To the minute: written at most once in one."
    )
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=~Q(name="") & ~Q(prefix="") & ~Q(secret_hash=""),
                name="apitoken_named_and_hashed",
            ),
            models.CheckConstraint(
                condition=Q(scopes__regex=stored_form()), name="apitoken_scopes_known"
            ),
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("created_at"))
                & Q(expires_at__lte=F("created_at") + LONGEST),
                name="apitoken_expires_within_a_year",
            ),
            models.CheckConstraint(
                condition=Q(revoked_at__isnull=True) | Q(revoked_at__gte=F("created_at")),
                name="apitoken_revoked_after_made",
            ),
        )

    def __str__(self) -> str:
        return f"{self.prefix} ({self.name})"

    @property
    def granted(self) -> tuple[Scope, ...]:
        """What it may do, if its owner may."""
        return tuple(Scope(one) for one in self.scopes.split())

    def is_valid(self, now: dt.datetime) -> bool:
        """Say whether it is neither revoked nor expired."""
        return self.revoked_at is None and now < self.expires_at


Row = TypeVar("Row", bound=models.Model)


class AppendOnlyError(Exception):
    """Somebody tried to change or delete a row of an append-only table."""


def _refuse(model: type[models.Model]) -> NoReturn:
    msg = f"{model.__name__} rows are append-only: add a new row instead"
    raise AppendOnlyError(msg)


class AppendOnlyQuerySet(models.QuerySet[Row]):
    """A queryset that can add and read, and nothing else."""

    def update(self, **_fields: object) -> int:
        """Refuse."""
        _refuse(self.model)

    def delete(self) -> tuple[int, dict[str, int]]:
        """Refuse."""
        _refuse(self.model)

    def bulk_update(self, *_args: object, **_options: object) -> int:
        """Refuse."""
        _refuse(self.model)

    def bulk_create(
        self,
        objs: Iterable[Row],
        batch_size: int | None = None,
        ignore_conflicts: bool = False,  # noqa: FBT001, FBT002 (Django's signature)
        update_conflicts: bool = False,  # noqa: FBT001, FBT002 (Django's signature)
        update_fields: Collection[str] | None = None,
        unique_fields: Collection[str] | None = None,
    ) -> list[Row]:
        """Add rows; refuse to overwrite stored ones that they collide with."""
        if update_conflicts or update_fields or unique_fields:
            _refuse(self.model)
        return super().bulk_create(objs, batch_size, ignore_conflicts)


AppendOnlyManager = models.Manager.from_queryset(AppendOnlyQuerySet)


class AppendOnlyModel(models.Model):
    """A model whose rows are never edited or deleted through any interface.

    The one exception, a person's withdrawal, will use a plain ``models.QuerySet`` and say so.
    """

    objects = AppendOnlyManager()

    class Meta:
        abstract = True
        base_manager_name = "objects"  # related managers move rows through the base manager

    def save(
        self,
        *,
        force_insert: bool | tuple[models.base.ModelBase, ...] = False,
        force_update: bool = False,
        using: str | None = None,
        update_fields: Iterable[str] | None = None,
    ) -> None:
        """Insert a new row; refuse to change a stored one."""
        if not self._state.adding or force_update or update_fields is not None:
            _refuse(type(self))
        # Forced, because a new object that carries a stored row's key would overwrite that row.
        super().save(force_insert=force_insert or True, using=using)

    def delete(
        self,
        using: str | None = None,  # noqa: ARG002 (Django's signature)
        keep_parents: bool = False,  # noqa: ARG002, FBT001, FBT002 (Django's signature)
    ) -> tuple[int, dict[str, int]]:
        """Refuse."""
        _refuse(type(self))


LONGEST_SUBJECT = 120


class LogEntry(AppendOnlyModel):
    """One administrative act: who, what, when, before and after."""

    at = models.DateTimeField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty when a command or a periodic task acted.",
    )
    action = models.CharField(max_length=60, help_text='Dotted, e.g. "study.opened".')
    subject = models.CharField(
        max_length=LONGEST_SUBJECT, help_text='Kind and public name, e.g. "study demo".'
    )
    before = models.JSONField(default=dict, blank=True)
    after = models.JSONField(default=dict, blank=True)

    class Meta:
        verbose_name_plural = "log entries"
        constraints = (
            models.CheckConstraint(
                condition=~Q(action="") & ~Q(subject=""), name="logentry_names_act_and_subject"
            ),
        )
        indexes = (models.Index(fields=["subject", "at"], name="logentry_by_subject"),)

    def __str__(self) -> str:
        return f"#{self.pk} {self.at:%Y-%m-%d %H:%M} {self.action} {self.subject}"


class ConsentEvidence(AppendOnlyModel):
    """That the person with this keyed hash agreed to this text on this day (ADR-0049).

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


PLAIN_WORD = re.compile("[a-z-]{0,20}")
"""A part of a path that is no secret."""


class Hook(models.Model):
    """An address that is told of chosen events.

    The secret is kept as it is, because it has to sign; it is shown once and forgotten on removal,
    as is what the address holds beyond ``shown_url``.
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
        return f"#{self.pk} {self.shown_url}"

    @property
    def shown_url(self) -> str:
        """The address as pages and the log tell it: some receivers want a secret in theirs.

        What may be one is left out: the query, and the path from the first part that is no word.
        """
        parts = urlsplit(self.url)
        words = "/".join(takewhile(PLAIN_WORD.fullmatch, parts.path.split("/")))
        rest = "?…" if parts.query else ""
        path = parts.path + rest if words == parts.path else f"{words}/…"
        return f"{parts.scheme}://{parts.netloc}{path}"


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


LONGEST_KEY = 200


class IdempotencyKey(models.Model):
    """One request of a token under a key of its own choice, and its answer (ADR-0012).

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
