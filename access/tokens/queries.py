"""Read tokens."""

import datetime as dt
from collections.abc import Iterable

from django.db.models import QuerySet

from access.models import ApiToken
from access.tokens import secrets


def token_of(secret: str, *, now: dt.datetime) -> ApiToken | None:
    """Return the valid token of a secret, or None.

    It is found by its hash: how long that takes says nothing about the secret.
    """
    if not secrets.is_formed(secret):
        return None
    found = (
        ApiToken.objects.select_related("owner").filter(secret_hash=secrets.digest(secret)).first()
    )
    return found if found is not None and found.is_valid(now) else None


def all_tokens() -> QuerySet[ApiToken]:
    """Return every token, those in use first, then the newest first."""
    return ApiToken.objects.select_related("owner").order_by("-expires_at", "-pk")


def in_use(rows: Iterable[ApiToken], *, now: dt.datetime) -> list[ApiToken]:
    """Return the tokens that are neither revoked nor expired."""
    return [row for row in rows if row.is_valid(now)]
