"""The address to which Prolific sends its events."""

import datetime as dt
import json

import pytest
from django.test import Client
from django.utils import timezone

from annotation.choices import Platform, RaterState
from annotation.models import PlatformEvent
from annotation.raters.webhooks import TOLERANCE, sign
from tests.helpers.factories import make_comparison, make_rater, make_study

pytestmark = pytest.mark.django_db
SECRET = "a shared secret"
RETURNED = {
    "event_type": "submission.status.change",
    "resource_id": "x-1",
    "participant_id": "p-17",
    "status": "RETURNED",
}
NO_TIME = dt.timedelta()


@pytest.fixture(autouse=True)
def secret(settings):
    settings.HEART_PROLIFIC_SECRET = SECRET


@pytest.fixture
def rater():
    study = make_study()
    make_comparison(study=study)
    return make_rater(
        study=study,
        platform=Platform.PROLIFIC,
        external_id="p-17",
        session={"SESSION_ID": "x-1"},
    )


def send(study, content=RETURNED, *, ago=NO_TIME, secret=SECRET, event_id="e-1"):
    """Post as the platform does: no cookie, no token of a form."""
    body = json.dumps(content).encode()
    timestamp = str(int((timezone.now() - ago).timestamp()))
    headers = {
        "X-Prolific-Request-Timestamp": timestamp,
        "X-Prolific-Request-Signature": sign(body, timestamp, secret=secret),
        "X-Event-ID": event_id,
    }
    return Client(enforce_csrf_checks=True).post(
        f"/hooks/prolific/{study.slug}/",
        body,
        content_type="application/json",
        headers=headers,
    )


def test_a_signed_event_is_taken_once_however_often_it_is_sent(rater):
    for _ in range(2):
        assert send(rater.study).status_code == 204

    rater.refresh_from_db()
    assert rater.state == RaterState.STOPPED
    assert PlatformEvent.objects.count() == 1


def test_an_unknown_kind_of_event_is_stored_and_ignored(rater):
    answer = send(rater.study, {"event_type": "study.progress.change", "resource_id": "s-1"})

    assert answer.status_code == 204
    rater.refresh_from_db()
    assert rater.state == RaterState.ACTIVE
    assert PlatformEvent.objects.get().kind == "study.progress.change"


@pytest.mark.parametrize(
    "changes",
    [
        {"secret": "another"},
        {"ago": 2 * TOLERANCE},
        {"ago": -2 * TOLERANCE},
    ],
    ids=["bad signature", "too old", "from the future"],
)
def test_what_the_platform_did_not_just_sign_is_refused(rater, changes):
    assert send(rater.study, **changes).status_code == 403
    assert not PlatformEvent.objects.exists()


@pytest.mark.parametrize("content", [[], {"event_type": ""}, {"event_type": 7}])
def test_a_signed_request_that_is_no_event_is_a_bad_request(rater, content):
    assert send(rater.study, content).status_code == 400
    assert not PlatformEvent.objects.exists()


def test_an_event_without_an_id_is_a_bad_request(rater):
    assert send(rater.study, event_id="").status_code == 400


def test_without_a_secret_there_is_no_such_address(rater, settings):
    settings.HEART_PROLIFIC_SECRET = ""

    assert send(rater.study).status_code == 404


def test_a_study_that_there_is_not_is_not_found(rater):
    rater.study.slug = "no-such-study"

    assert send(rater.study).status_code == 404


def test_a_visitor_cannot_look_at_it(client, rater):
    assert client.get(f"/hooks/prolific/{rater.study.slug}/").status_code == 405
