"""The form of a token: pure rules, no rows."""

import hashlib
import re
import secrets

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
