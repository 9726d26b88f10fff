"""Several submissions of one person: each goes on with what is left, and earns its own code."""

import json

import pytest
from django.test import Client
from django.utils import timezone

from annotation.choices import RaterState
from annotation.models import PlatformEvent, Study
from annotation.raters.webhooks import sign
from tests.annotation.session.steps import CODES, code_on, judge
from tests.helpers.factories_written_once import make_member
from tests.helpers.visits import enrol, open_study, study_content, url

pytestmark = pytest.mark.django_db
SECRET = "a shared secret"
EVENT = {"event_type": "study.progress.change", "resource_id": "s-1"}
FIRST = {"PROLIFIC_PID": "p-17", "STUDY_ID": "s-1", "SESSION_ID": "x-1"}
SECOND = FIRST | {"SESSION_ID": "x-2"}
LENGTH = 4


@pytest.fixture
def study():
    crowd = study_content()["crowd"] | {"codes": CODES}
    content = study_content(crowd=crowd)
    return open_study(n_pairs=LENGTH + 2, content=content, session_length=LENGTH)


def arrive(client, study, link):
    return client.get(url(study, "entry"), link)


@pytest.fixture(autouse=True)
def secret(settings):
    settings.HEART_PROLIFIC_SECRET = SECRET


def send(study, content, *, secret=SECRET, event_id="e-1"):
    """Post as the platform does: signed, with no cookie and no token of a form."""
    body = json.dumps(content).encode()
    timestamp = str(int(timezone.now().timestamp()))
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


def tell(study, status, session="x-1", event="e-1"):
    """Post what Prolific says of a submission, as it does."""
    told = {"resource_id": session, "participant_id": "p-17", "status": status}
    answered = send(study, {"event_type": "submission.status.change"} | told, event_id=event)
    assert answered.status_code == 204


def submissions(study):
    rows = study.raters.get().submissions.order_by("number")
    return list(rows.values_list("session_id", "state", "n_before", "code"))


class TestAfterAReturn:
    def test_a_new_submission_goes_on_with_what_is_left_and_earns_its_code(self, client, study):
        enrol(client, study, **FIRST)
        judge(client, study)
        tell(study, "RETURNED")
        assert study.raters.get().state == RaterState.STOPPED

        came = arrive(client, study, SECOND)

        assert came["Location"] == url(study, "judge")
        page = client.get(url(study, "judge"))
        assert "Pair 2 of 4" in page.content.decode()
        assert code_on(page) is None
        assert submissions(study) == [("x-1", "RETURNED", 0, ""), ("x-2", "ACTIVE", 1, "")]
        judge(client, study, times=LENGTH - 1)
        assert code_on(client.get(url(study, "judge"))) == "C-DONE"
        assert submissions(study)[1] == ("x-2", "ACTIVE", 1, "C-DONE")

    def test_earns_no_completion_after_a_screening_that_was_not_passed(self, client, study):
        enrol(client, study, **FIRST)
        study.raters.update(state=RaterState.SCREENED, ended_at=timezone.now())
        assert code_on(client.get(url(study, "done"))) == "C-OUT"

        arrive(client, study, SECOND)

        assert code_on(client.get(url(study, "done"))) == "C-NO"
        assert study.raters.get().state == RaterState.SCREENED


class TestAssignments:
    def test_a_second_assignment_is_not_shown_the_end_of_the_first(self, client, study):
        link = {"workerId": "w-1", "assignmentId": "a-1", "hitId": "h-1"}
        enrol(client, study, **link)
        judge(client, study)
        client.post(url(study, "stop"))

        arrive(client, study, link | {"assignmentId": "a-2"})

        assert "Pair 2 of 4" in client.get(url(study, "judge")).content.decode()
        assert [row[0] for row in submissions(study)] == ["a-1", "a-2"]

    def test_the_same_assignment_opens_none_nor_does_asking_for_the_head(self, client, study):
        link = {"workerId": "w-1", "assignmentId": "a-1", "hitId": "h-1"}
        enrol(client, study, **link)
        client.post(url(study, "stop"))

        arrive(client, study, link)
        client.head(url(study, "entry"), link | {"assignmentId": "a-2"})

        assert study.raters.get().state == RaterState.STOPPED
        assert len(submissions(study)) == 1


class TestEvents:
    def test_of_an_earlier_submission_do_not_end_the_newer_one(self, client, study):
        enrol(client, study, **FIRST)
        judge(client, study)
        arrive(client, study, SECOND)

        tell(study, "RETURNED", "x-1")

        assert study.raters.get().state == RaterState.ACTIVE
        assert [row[1] for row in submissions(study)] == ["RETURNED", "ACTIVE"]
        tell(study, "RETURNED", "x-2", "e-2")
        assert study.raters.get().state == RaterState.STOPPED


def test_owners_read_how_each_submission_stands(client, study):
    enrol(client, study, **FIRST)
    judge(client, study)
    tell(study, "RETURNED")
    arrive(client, study, SECOND)
    owner = Client()
    owner.force_login(make_member())

    page = owner.get(f"/console/people/{study.raters.get().code}/").content.decode()

    assert "Given back on the platform" in page
    assert "x-1" not in page
    assert "x-2" not in page


class TestTheAddressOfEvents:
    def test_takes_a_signed_event(self, study):
        assert send(study, EVENT).status_code == 204
        assert PlatformEvent.objects.get().kind == "study.progress.change"

    @pytest.mark.parametrize(
        ("content", "changes", "status"),
        [(EVENT, {"secret": "another"}, 403), ([], {}, 400)],
        ids=["bad signature", "no event"],
    )
    def test_refuses_what_is_no_event_that_was_just_signed(self, study, content, changes, status):
        assert send(study, content, **changes).status_code == status
        assert not PlatformEvent.objects.exists()

    def test_is_there_for_a_study_and_a_secret_alone(self, study, settings):
        assert send(Study(slug="no-such-study"), EVENT).status_code == 404

        settings.HEART_PROLIFIC_SECRET = ""

        assert send(study, EVENT).status_code == 404
