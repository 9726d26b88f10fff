"""Ids of people in a release, from pseudonyms and the release's secret (ADR-0060)."""

import hashlib
import hmac

RATER = "rater"
JUDGMENT = "judgment"
LENGTH = 16  # of 64 hexadecimal digits: nobody meets two alike among a million


def identity(secret: str, label: str, name: str) -> str:
    """Return the id of what has that name on the platform.

    Who has the id cannot find the name without the secret, nor hold a name that is known
    against it. Ids of different labels have nothing to do with each other.
    """
    message = f"{label}\x1f{name}".encode()
    digest = hmac.new(bytes.fromhex(secret), message, hashlib.sha256).hexdigest()
    return f"{label[0]}{digest[:LENGTH]}"
