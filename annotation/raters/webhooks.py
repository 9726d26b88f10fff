"""What Prolific says by a webhook: its signature is checked first, then its body is read; pure.

Prolific signs the time at which it sent a request, followed by the body as sent, with
HMAC-SHA256 under a secret that both sides know, and writes the digest in base64. It may deliver
an event more than once and in any order; the id of an event stays the same.
"""

import base64
import datetime as dt
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from access.strict_json import DECODER

SIGNATURE = "X-Prolific-Request-Signature"
TIMESTAMP = "X-Prolific-Request-Timestamp"
EVENT_ID = "X-Event-Id"

TOLERANCE = dt.timedelta(minutes=10)
"""How far the time of sending may be from the clock here: longer than any request travels."""

LONGEST_ID = 120
LONGEST_KIND = 80
LONGEST_STATUS = 40
SUBMISSION = "submission.status.change"
GONE = frozenset({"RETURNED", "TIMED-OUT", "REJECTED"})
"""The states of a submission after which its person judges no more."""


class WebhookError(ValueError):
    """A request is not what the platform sends."""


class SignatureError(WebhookError):
    """A request was not signed with the secret, or was signed too long ago."""


@dataclass(frozen=True)
class Event:
    """Something that happened on the platform; fields that it does not have are empty."""

    event_id: str
    kind: str
    status: str = ""
    participant_id: str = ""
    submission_id: str = ""

    @property
    def ends_part(self) -> bool:
        """Whether the person gave the task back, ran out of time or was turned down."""
        return self.kind == SUBMISSION and self.status in GONE


def read_event(body: bytes, headers: Mapping[str, str], *, secret: str, now: dt.datetime) -> Event:
    """Check who sent ``body`` and when, and return what it says.

    ``headers`` finds names in any case, as Django's do.

    Raises
    ------
    SignatureError
        If the signature is missing, malformed or wrong, or the time is missing, malformed or
        more than ``TOLERANCE`` away from ``now``.
    WebhookError
        If the request is signed but has no event id, or its body is not an event.
    """
    timestamp = headers.get(TIMESTAMP, "")
    check_signature(body, timestamp, headers.get(SIGNATURE, ""), secret=secret)
    _check_time(timestamp, now=now)
    event_id = headers.get(EVENT_ID, "")
    if not event_id or len(event_id) > LONGEST_ID:
        msg = f"{EVENT_ID} is missing or overlong"
        raise WebhookError(msg)
    return _parse(body, event_id=event_id)


def sign(body: bytes, timestamp: str, *, secret: str) -> str:
    """Return the signature that the platform gives to ``body`` sent at ``timestamp``."""
    digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def check_signature(body: bytes, timestamp: str, signature: str, *, secret: str) -> None:
    """Compare the signature, in a time that tells nothing about the right one.

    Raises
    ------
    SignatureError
        If it is not the one that the secret gives.
    ValueError
        If ``secret`` is empty: anybody could sign with that.
    """
    if not secret:
        msg = "an empty secret verifies nothing"
        raise ValueError(msg)
    right = sign(body, timestamp, secret=secret)
    if not hmac.compare_digest(signature.encode(), right.encode()):
        msg = "the signature is not the platform's"
        raise SignatureError(msg)


def _check_time(timestamp: str, *, now: dt.datetime) -> None:
    try:
        sent = dt.datetime.fromtimestamp(float(timestamp), tz=dt.UTC)
    except (ValueError, OverflowError, OSError) as error:
        msg = f"{TIMESTAMP} is not a time: {timestamp[:40]!r}"
        raise SignatureError(msg) from error
    if abs(now - sent) > TOLERANCE:
        msg = f"sent at {sent:%Y-%m-%d %H:%M:%S} UTC, too far from now"
        raise SignatureError(msg)


def _parse(body: bytes, *, event_id: str) -> Event:
    try:
        content = DECODER.decode(body.decode())
    except (ValueError, RecursionError) as error:
        msg = "the body is not JSON"
        raise WebhookError(msg) from error
    if not isinstance(content, dict):
        msg = "the body is not an object"
        raise WebhookError(msg)
    kind = _text(content, "event_type", longest=LONGEST_KIND)
    if not kind:
        msg = "the body names no event_type"
        raise WebhookError(msg)
    if kind != SUBMISSION:
        return Event(event_id, kind, _text(content, "status", longest=LONGEST_STATUS))
    return Event(
        event_id,
        kind,
        status=_text(content, "status", longest=LONGEST_STATUS).upper().replace(" ", "-"),
        participant_id=_text(content, "participant_id", longest=LONGEST_ID),
        submission_id=_text(content, "resource_id", longest=LONGEST_ID),
    )


def _text(content: Mapping[str, object], name: str, *, longest: int) -> str:
    value = content.get(name, "")
    if not isinstance(value, str) or len(value) > longest:
        msg = f"{name} is not a text of up to {longest} characters"
        raise WebhookError(msg)
    return value
