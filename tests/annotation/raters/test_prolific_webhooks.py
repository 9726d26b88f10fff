"""A webhook is believed when it is signed, fresh and whole."""

import base64
import datetime as dt
import hashlib
import hmac
import json

import pytest

from annotation.raters.webhooks import (
    EVENT_ID,
    SIGNATURE,
    TIMESTAMP,
    TOLERANCE,
    Event,
    SignatureError,
    WebhookError,
    check_signature,
    read_event,
    sign,
)

NOW = dt.datetime(2026, 1, 5, 9, 0, tzinfo=dt.UTC)
SECRET = "a shared secret"
SECOND = dt.timedelta(seconds=1)
RETURNED = {
    "event_type": "submission.status.change",
    "resource_id": "x-1",
    "participant_id": "p-17",
    "status": "RETURNED",
}


def request(content=RETURNED, *, sent=NOW, secret=SECRET, **headers):
    """Return a body with headers, signed as the platform describes it."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    timestamp = str(int(sent.timestamp()))
    digest = hmac.new(
        secret.encode(), (timestamp + body.decode("latin-1")).encode("latin-1"), hashlib.sha256
    ).digest()
    given = {
        SIGNATURE: base64.b64encode(digest).decode(),
        TIMESTAMP: timestamp,
        EVENT_ID: "e-1",
    }
    return body, given | {name.replace("_", "-"): value for name, value in headers.items()}


def read(body, headers, *, now=NOW, secret=SECRET):
    return read_event(body, headers, secret=secret, now=now)


class TestReadEvent:
    def test_returns_what_a_signed_request_says(self):
        expected = Event("e-1", "submission.status.change", "RETURNED", "p-17", "x-1")

        assert read(*request()) == expected

    def test_signature_is_the_one_that_the_platform_describes(self):
        body, headers = request()

        assert sign(body, headers[TIMESTAMP], secret=SECRET) == headers[SIGNATURE]

    @pytest.mark.parametrize("distance", [-TOLERANCE, dt.timedelta(0), TOLERANCE], ids=str)
    def test_takes_a_request_from_about_now(self, distance):
        assert read(*request(sent=NOW + distance)).event_id == "e-1"

    @pytest.mark.parametrize("distance", [-TOLERANCE - SECOND, TOLERANCE + SECOND], ids=str)
    def test_refuses_a_request_from_another_time(self, distance):
        with pytest.raises(SignatureError, match="too far from now"):
            read(*request(sent=NOW + distance))

    @pytest.mark.parametrize(
        "changed",
        [
            {SIGNATURE: ""},
            {SIGNATURE: "not base64 at all"},
            {SIGNATURE: "\N{SNOWMAN}"},
            {SIGNATURE: base64.b64encode(b"x" * 32).decode()},
            {TIMESTAMP: str(int(NOW.timestamp()) + 1)},
            {TIMESTAMP: ""},
        ],
        ids=["none", "no base64", "no ASCII", "wrong", "time changed", "no time"],
    )
    def test_refuses_a_request_that_was_not_signed_like_this(self, changed):
        body, headers = request()

        with pytest.raises(SignatureError, match="not the platform's"):
            read(body, headers | changed)

    def test_refuses_a_changed_body(self):
        body, headers = request()

        with pytest.raises(SignatureError):
            read(body.replace(b"p-17", b"p-18"), headers)

    def test_refuses_another_secret(self):
        with pytest.raises(SignatureError):
            read(*request(secret="another"))

    @pytest.mark.parametrize("timestamp", ["soon", "nan", "1e400", "9" * 30])
    def test_refuses_a_signed_time_that_is_none(self, timestamp):
        body, headers = request()
        signature = sign(body, timestamp, secret=SECRET)

        with pytest.raises(SignatureError, match="not a time"):
            read(body, headers | {TIMESTAMP: timestamp, SIGNATURE: signature})

    def test_an_empty_secret_verifies_nothing(self):
        with pytest.raises(ValueError, match="empty secret"):
            check_signature(b"", "1", sign(b"", "1", secret=""), secret="")

    @pytest.mark.parametrize("event_id", ["", "x" * 121])
    def test_needs_an_event_id(self, event_id):
        with pytest.raises(WebhookError, match=EVENT_ID):
            read(*request(X_Event_Id=event_id))

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"{",
            b"\xff\xfe",
            b"[" * 50_000,
            [],
            {},
            {"event_type": ""},
            {"event_type": 7},
            {"event_type": "x" * 81},
            RETURNED | {"participant_id": {"id": "p-17"}},
            RETURNED | {"status": None},
            RETURNED | {"resource_id": "x" * 121},
        ],
        ids=lambda content: str(content)[:40],
    )
    def test_says_what_is_wrong_with_a_signed_body(self, content):
        with pytest.raises(WebhookError) as caught:
            read(*request(content))

        assert not isinstance(caught.value, SignatureError)

    def test_an_event_about_something_else_names_nobody(self):
        content = {"event_type": "study.status.change", "resource_id": "s-1", "status": "ACTIVE"}

        assert read(*request(content)) == Event("e-1", "study.status.change", "ACTIVE")


class TestEvent:
    @pytest.mark.parametrize(
        ("status", "ends"),
        [
            ("RETURNED", True),
            ("TIMED-OUT", True),
            ("TIMED OUT", True),
            ("timed-out", True),
            ("REJECTED", True),
            ("RESERVED", False),
            ("ACTIVE", False),
            ("AWAITING REVIEW", False),
            ("APPROVED", False),
            ("SCREENED OUT", False),
            ("something new", False),
            ("", False),
        ],
    )
    def test_ends_the_part_of_a_person_whose_submission_is_gone(self, status, ends):
        assert read(*request(RETURNED | {"status": status})).ends_part is ends

    def test_ends_nothing_by_another_kind_of_event(self):
        assert not Event("e-1", "study.status.change", "RETURNED", "p-17").ends_part
