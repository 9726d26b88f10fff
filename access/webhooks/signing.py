"""How what goes out is signed, so that its receiver knows who sent it and when; pure.

A signature is the HMAC-SHA256, in hexadecimal digits, of the time of sending in whole seconds, a
full stop and the body as sent, under a secret that both sides know.
"""

import base64
import datetime as dt
import hashlib
import hmac

SIGNATURE = "HEART-Signature"
TIMESTAMP = "HEART-Timestamp"
EVENT_ID = "HEART-Event-Id"
EVENT = "HEART-Event"
VERSION = "v1="
SECRET_BYTES = 32
MARK = "hook_"
"""What a secret begins with, so that one that leaked can be found."""


def secret_of(chance: bytes) -> str:
    """Write random bytes as a secret.

    Parameters
    ----------
    chance
        ``SECRET_BYTES`` random bytes.

    Raises
    ------
    ValueError
        If there are fewer.
    """
    if len(chance) < SECRET_BYTES:
        msg = f"a secret needs {SECRET_BYTES} random bytes"
        raise ValueError(msg)
    return MARK + base64.urlsafe_b64encode(chance).decode().rstrip("=")


def sign(body: bytes, *, timestamp: int, secret: str) -> str:
    """Return the signature of ``body`` sent at ``timestamp``, in seconds since 1970.

    Raises
    ------
    ValueError
        If ``secret`` is empty: anybody could sign with that.
    """
    if not secret:
        msg = "an empty secret signs nothing"
        raise ValueError(msg)
    signed = f"{timestamp}.".encode() + body
    return VERSION + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def headers(
    body: bytes, *, event: str, event_id: str, secret: str, now: dt.datetime
) -> dict[str, str]:
    """Return the headers with which ``body`` goes out."""
    timestamp = int(now.timestamp())
    return {
        "Content-Type": "application/json",
        "User-Agent": "HEART-webhooks/1",
        EVENT: event,
        EVENT_ID: event_id,
        TIMESTAMP: str(timestamp),
        SIGNATURE: sign(body, timestamp=timestamp, secret=secret),
    }
