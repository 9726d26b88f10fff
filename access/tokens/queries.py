"""What a token is, and which there are."""

import datetime as dt
import hashlib
import re
import secrets

from django.db.models import QuerySet

from access.models import ApiToken

MARK = "heart_"
_BYTES = 32
_SHOWN = 12
_FORM = re.compile(r"heart_[A-Za-z0-9_-]{43}")


def new_secret() -> str:
    """Return a new token: a mark, by which scanners of leaks know it, and 256 random bits."""
    return MARK + secrets.token_urlsafe(_BYTES)


def is_formed(secret: str) -> bool:
    """Say whether a text could be a token at all."""
    return _FORM.fullmatch(secret) is not None


def digest(secret: str) -> str:
    """Return what is stored of a token: its SHA-256, 64 hexadecimal digits.

    A slow hash protects secrets that can be guessed. Nobody guesses 256 random bits, and each
    request would pay for it (ADR-0049).
    """
    return hashlib.sha256(secret.encode()).hexdigest()


def shown_part(secret: str) -> str:
    """Return the beginning of a token, by which people tell theirs apart."""
    return secret[:_SHOWN]


def token_of(secret: str, *, now: dt.datetime) -> ApiToken | None:
    """Return the valid token of a secret, or None.

    It is found by its hash: how long that takes says nothing about the secret.
    """
    if not is_formed(secret):
        return None
    found = ApiToken.objects.select_related("owner").filter(secret_hash=digest(secret)).first()
    return found if found is not None and found.is_valid(now) else None


def all_tokens() -> QuerySet[ApiToken]:
    """Return every token, those in use first, then the newest first."""
    return ApiToken.objects.select_related("owner").order_by("-expires_at", "-pk")
