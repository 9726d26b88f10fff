"""Keys of programs."""

import datetime as dt

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from access.scopes import Scope, stored_form

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
