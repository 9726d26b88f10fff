"""Events of a crowd platform: believed when signed, fresh and whole, and what they do."""

import base64
import datetime as dt
import hashlib
import hmac
import json
from functools import partial

import pytest

from access.models import LogEntry
from annotation.choices import Platform, RaterState
from annotation.models import PlatformEvent
from annotation.raters.services import submissions, withdrawing
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
from tests.helpers.factories import HOUR, NOW, make_comparison, make_rater, make_study
from tests.helpers.factories_of_people import make_submission
from tests.helpers.judged import lease_next, submit
from tests.helpers.threads import together

pytestmark = pytest.mark.django_db


def make_participant(study=None, **fields):
    study = study or make_study()
    make_comparison(study=study, slots_left=3)
    session = {"STUDY_ID": "s-1", "SESSION_ID": "x-1"}
    known = {"platform": Platform.PROLIFIC, "external_id": "p-17", "session": session}
    return make_rater(study=study, **known | fields)


@pytest.fixture
def rater():
    rater = make_participant()
    lease_next(rater)
    return rater


def event(status="RETURNED", *, event_id="e-1", submission="x-1", participant="p-17"):
    return Event(event_id, "submission.status.change", status, participant, submission)


def take(rater, told):
    is_new = submissions.take_event(study=rater.study, event=told, now=NOW + HOUR)
    rater.refresh_from_db()
    return is_new


def slots_left(rater):
    return rater.study.comparisons.get().slots_left


class TestTakeEvent:
    @pytest.mark.parametrize(
        ("status", "state"),
        [("RETURNED", "RETURNED"), ("TIMED-OUT", "EXPIRED"), ("REJECTED", "REJECTED")],
    )
    def test_returns_the_slot_and_ends_the_submission_and_the_part(self, rater, status, state):
        assert slots_left(rater) == 2

        assert take(rater, event(status))

        assert slots_left(rater) == 3
        assert rater.submissions.get().state == state
        assert (rater.state, rater.ended_at) == (RaterState.STOPPED, NOW + HOUR)
        stored = PlatformEvent.objects.get()
        assert (stored.rater, stored.status, stored.event_id) == (rater, status, "e-1")
        assert LogEntry.objects.get(action="rater.returned").after["status"] == status

    def test_keeps_what_was_answered_and_other_parts_of_the_person(self, rater):
        other = make_participant(session={"SESSION_ID": "x-2"})
        submit(rater.leases.get(), now=NOW)

        take(rater, event())

        assert rater.judgments.count() == 1
        assert slots_left(rater) == 2
        other.refresh_from_db()
        assert other.state == RaterState.ACTIVE

    def test_takes_an_event_once_and_changes_nothing_by_a_second_one(self, rater):
        taken = [take(rater, event()), take(rater, event())]
        taken.append(take(rater, event("REJECTED", event_id="e-2")))

        assert taken == [True, False, True]
        assert PlatformEvent.objects.count() == 2
        assert (slots_left(rater), rater.ended_at) == (3, NOW + HOUR)
        assert LogEntry.objects.filter(action="rater.returned").count() == 1

    def test_of_an_earlier_submission_does_not_end_the_newer_one(self, rater):
        make_submission(rater=rater, number=2, session_id="x-2")

        take(rater, event())

        assert rater.state == RaterState.ACTIVE
        states = rater.submissions.order_by("number").values_list("state", flat=True)
        assert list(states) == ["RETURNED", "ACTIVE"]
        take(rater, event(event_id="e-2", submission="x-2"))
        assert rater.state == RaterState.STOPPED

    def test_finds_the_submission_in_whichever_study_it_is(self, rater):
        submissions.take_event(study=make_study(), event=event(), now=NOW)

        rater.refresh_from_db()
        assert rater.state == RaterState.STOPPED
        assert PlatformEvent.objects.get().study == rater.study

    @pytest.mark.parametrize(
        ("told", "state"),
        [
            (event("ACTIVE"), "ACTIVE"),
            (event("APPROVED"), "APPROVED"),
            (event("AWAITING-REVIEW"), "ACTIVE"),
            (event(participant="p-18"), "ACTIVE"),
            (event(submission="x-2"), "ACTIVE"),
            (event(participant=""), "ACTIVE"),
            (Event("e-1", "study.status.change", "RETURNED"), "ACTIVE"),
        ],
        ids=["active", "approved", "waits", "other person", "other submission", "nobody", "kind"],
    )
    def test_stores_other_events_and_ends_nothing(self, rater, told, state):
        assert take(rater, told)

        assert PlatformEvent.objects.count() == 1
        assert rater.submissions.get().state == state
        assert (rater.state, slots_left(rater)) == (RaterState.ACTIVE, 2)

    @pytest.mark.parametrize("is_own_address", [True, False])
    def test_without_a_session_the_address_decides(self, is_own_address):
        rater = make_participant(session={})
        study = rater.study if is_own_address else make_study()

        submissions.take_event(study=study, event=event(), now=NOW)

        rater.refresh_from_db()
        assert (rater.state == RaterState.STOPPED) is is_own_address

    def test_that_came_to_another_address_first_is_taken_at_its_own_once(self):
        rater = make_participant(session={})
        lease_next(rater)
        assert submissions.take_event(study=make_study(), event=event(), now=NOW)

        taken = [take(rater, event()), take(rater, event())]

        assert taken == [True, False]
        assert (rater.state, slots_left(rater)) == (RaterState.STOPPED, 3)
        stored = PlatformEvent.objects.get()
        assert (stored.rater, stored.study) == (rater, rater.study)

    def test_knows_nobody_who_withdrew(self, rater):
        withdrawing.withdraw_rater(rater=rater, now=NOW)

        take(rater, event())

        assert PlatformEvent.objects.get().rater is None


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
    given = {SIGNATURE: base64.b64encode(digest).decode(), TIMESTAMP: timestamp, EVENT_ID: "e-1"}
    return body, given | {name.replace("_", "-"): value for name, value in headers.items()}


def read(body, headers, *, now=NOW, secret=SECRET):
    return read_event(body, headers, secret=secret, now=now)


class TestReadEvent:
    @pytest.mark.parametrize("distance", [-TOLERANCE, dt.timedelta(0), TOLERANCE], ids=str)
    def test_returns_what_a_signed_request_from_about_now_says(self, distance):
        body, headers = request(sent=NOW + distance)

        found = read(body, headers)

        assert found == Event("e-1", "submission.status.change", "RETURNED", "p-17", "x-1")
        assert sign(body, headers[TIMESTAMP], secret=SECRET) == headers[SIGNATURE]

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

    def test_refuses_a_changed_body_and_another_secret(self):
        body, headers = request()

        with pytest.raises(SignatureError):
            read(body.replace(b"p-17", b"p-18"), headers)
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
        "status", ["RETURNED", "TIMED-OUT", "TIMED OUT", "timed-out", "REJECTED"]
    )
    def test_ends_the_part_of_a_person_whose_submission_is_gone(self, status):
        assert read(*request(RETURNED | {"status": status})).ends_part
        assert not Event("e-1", "study.status.change", status, "p-17").ends_part

    @pytest.mark.parametrize(
        "status",
        [
            *("RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED", "SCREENED OUT"),
            *("something new", ""),
        ],
    )
    def test_ends_nothing_by_another_status(self, status):
        assert not read(*request(RETURNED | {"status": status})).ends_part


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("shared_database")
def test_an_event_that_is_sent_twice_at_once_is_taken_once(crowd, rater):
    take_it = partial(submissions.take_event, study=rater.study, event=event(), now=NOW)

    taken = together([take_it] * crowd.people)

    rater.refresh_from_db()
    assert sorted(taken) == [False] * (crowd.people - 1) + [True]
    assert PlatformEvent.objects.count() == 1
    assert rater.state == RaterState.STOPPED
    assert slots_left(rater) == 3
