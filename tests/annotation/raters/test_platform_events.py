"""What a crowd platform's events do to its people."""

import pytest

from access.models import LogEntry
from annotation.choices import Platform, RaterState
from annotation.judging import services as judging_services
from annotation.models import PlatformEvent
from annotation.raters import services as rater_services
from annotation.raters.webhooks import Event
from tests.helpers.factories import HOUR, NOW, make_comparison, make_rater, make_study
from tests.helpers.judged import ANSWER

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
    judging_services.lease_next_comparison(rater=rater, now=NOW)
    return rater


def event(status="RETURNED", *, event_id="e-1", submission="x-1", participant="p-17"):
    return Event(event_id, "submission.status.change", status, participant, submission)


def take(rater, told):
    is_new = rater_services.take_event(study=rater.study, event=told, now=NOW + HOUR)
    rater.refresh_from_db()
    return is_new


def slots_left(rater):
    return rater.study.comparisons.get().slots_left


class TestTakeEvent:
    @pytest.mark.parametrize("status", ["RETURNED", "TIMED-OUT", "REJECTED"])
    def test_returns_the_slot_and_ends_the_part(self, rater, status):
        assert slots_left(rater) == 2

        assert take(rater, event(status))

        assert slots_left(rater) == 3
        assert (rater.state, rater.ended_at) == (RaterState.STOPPED, NOW + HOUR)
        stored = PlatformEvent.objects.get()
        assert (stored.rater, stored.status, stored.event_id) == (rater, status, "e-1")
        assert LogEntry.objects.get(action="rater.returned").after["status"] == status

    def test_keeps_what_was_answered(self, rater):
        lease = rater.leases.get()
        submission = judging_services.Submission(lease.token, ANSWER)
        judging_services.submit_judgment(rater=rater, submission=submission, now=NOW)

        take(rater, event())

        assert rater.judgments.count() == 1
        assert slots_left(rater) == 2

    def test_the_same_event_twice_is_taken_once(self, rater):
        assert take(rater, event())
        assert not take(rater, event())

        assert PlatformEvent.objects.count() == 1
        assert slots_left(rater) == 3

    def test_a_second_event_about_somebody_who_has_ended_changes_nothing(self, rater):
        take(rater, event())

        assert take(rater, event("REJECTED", event_id="e-2"))

        assert (slots_left(rater), rater.ended_at) == (3, NOW + HOUR)
        assert LogEntry.objects.filter(action="rater.returned").count() == 1

    @pytest.mark.parametrize(
        "told",
        [
            event("ACTIVE"),
            event("APPROVED"),
            event("AWAITING-REVIEW"),
            event(participant="p-18"),
            event(submission="x-2"),
            event(participant=""),
            Event("e-1", "study.status.change", "RETURNED"),
        ],
        ids=[
            "active",
            "approved",
            "waits",
            "another person",
            "another submission",
            "nobody",
            "kind",
        ],
    )
    def test_stores_other_events_and_does_nothing(self, rater, told):
        assert take(rater, told)

        assert PlatformEvent.objects.count() == 1
        assert (rater.state, slots_left(rater)) == (RaterState.ACTIVE, 2)

    def test_finds_the_submission_in_whichever_study_it_is(self, rater):
        elsewhere = make_study()

        rater_services.take_event(study=elsewhere, event=event(), now=NOW)

        rater.refresh_from_db()
        assert rater.state == RaterState.STOPPED
        assert PlatformEvent.objects.get().study == rater.study

    def test_does_not_end_the_same_persons_part_in_another_study(self, rater):
        session = {"SESSION_ID": "x-2"}
        other = make_participant(session=session)

        take(rater, event())

        other.refresh_from_db()
        assert other.state == RaterState.ACTIVE

    @pytest.mark.parametrize("is_own_address", [True, False])
    def test_without_a_session_the_address_decides(self, is_own_address):
        rater = make_participant(session={})
        study = rater.study if is_own_address else make_study()

        rater_services.take_event(study=study, event=event(), now=NOW)

        rater.refresh_from_db()
        assert (rater.state == RaterState.STOPPED) is is_own_address

    def test_knows_nobody_who_withdrew(self, rater):
        rater_services.withdraw_rater(rater=rater, now=NOW)

        take(rater, event())

        assert PlatformEvent.objects.get().rater is None
