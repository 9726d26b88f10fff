"""Which comparison a rater gets, on which sides, and how its slot comes back."""

import uuid
from unittest.mock import DEFAULT, Mock

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from psycopg.errors import DeadlockDetected

from annotation.assignment import design
from annotation.assignment import slots as assignment_slots
from annotation.choices import Platform, Purpose, RaterState, ReportKind, Side, StudyState
from annotation.judging.services import leasing
from annotation.models import Comparison, Lease
from annotation.quality.services.reporting import report_context
from annotation.raters.services import submissions, withdrawing
from annotation.raters.webhooks import SUBMISSION, Event
from completions.choices import LeaseOutcome
from completions.leases import timed
from completions.models import Completion
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_completion,
    make_lease,
    make_rater,
    make_study,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_of_people import make_submission
from tests.helpers.judged import SECOND, judge_all, lease_next, make_comparisons, skip, submit

pytestmark = pytest.mark.django_db

MINUTE = 60 * SECOND
UPSET = ReportKind.UPSET


@pytest.fixture
def study():
    return make_study(lease_minutes=30)


@pytest.fixture
def rater(study):
    return make_rater(study=study)


@pytest.fixture
def lease(study, rater):
    """What the rater holds of the only pair of the study."""
    make_comparison(study=study, slots_left=5)
    return lease_next(rater)


class TestLeaseNextComparison:
    def test_claims_a_slot_for_as_long_as_the_study_says(self, lease):
        comparison = Comparison.objects.get()
        assert lease.comparison == comparison
        assert (lease.issued_at, lease.expires_at) == (NOW, NOW + HOUR / 2)
        assert comparison.slots_left == 4
        assert comparison.shown_first_as_a + comparison.shown_first_as_b == 1
        assert (lease.first_side == Side.A) == (comparison.shown_first_as_a == 1)

    def test_returns_the_open_lease_again_prolonged_if_it_ran_out_and_claims_nothing_more(
        self, study, rater
    ):
        make_comparisons(study, 2)
        lease = lease_next(rater)
        study.state = StudyState.PAUSED  # which stops new pairs alone
        study.save()

        again = lease_next(rater, NOW + SECOND)
        assert (again, again.first_side) == (lease, lease.first_side)
        assert again.expires_at == lease.expires_at

        assert lease_next(rater, NOW + HOUR) == lease
        assert Lease.objects.get().expires_at == NOW + HOUR + HOUR / 2
        assert sum(one.slots_left for one in Comparison.objects.all()) == 5 * 2 - 1

    def test_hands_out_another_comparison_when_the_lease_was_given_back(self, study, rater):
        make_comparisons(study, 2)
        lease = lease_next(rater)
        leasing.release_expired_leases(now=NOW + HOUR)

        other = lease_next(rater, NOW + HOUR)

        assert other.comparison != lease.comparison

    @pytest.mark.parametrize("close", [submit, skip], ids=["answered", "skipped"])
    def test_never_shows_a_comparison_again_once_it_is(self, study, rater, close):
        make_comparison(study=study)
        close(lease_next(rater))

        assert lease_next(rater) is None

    @pytest.mark.parametrize(
        "state", [RaterState.FINISHED, RaterState.STOPPED, RaterState.WITHDRAWN]
    )
    def test_refuses_a_rater_who_has_ended(self, study, state):
        make_comparison(study=study)
        rater = make_rater(study=study, state=state, ended_at=NOW)

        with pytest.raises(leasing.RaterEndedError):
            lease_next(rater)

    @pytest.mark.parametrize("state", [StudyState.DRAFT, StudyState.PAUSED, StudyState.CLOSED])
    def test_refuses_when_the_study_is_not_open(self, state):
        study = make_study(state=state)
        make_comparison(study=study)

        with pytest.raises(leasing.StudyNotOpenError):
            lease_next(make_rater(study=study))

        assert not Lease.objects.exists()

    def test_finishes_the_rater_when_the_session_is_full_in_which_skipped_pairs_do_not_count(self):
        study = make_study(session_length=2)
        make_comparisons(study, 4)
        rater = make_rater(study=study)
        skip(lease_next(rater))

        assert len(judge_all(rater)) == 2

        rater.refresh_from_db()
        assert (rater.state, rater.ended_at) == (RaterState.FINISHED, NOW)
        with pytest.raises(leasing.RaterEndedError):
            lease_next(rater)

    @pytest.mark.parametrize(
        "fields",
        [{"slots_left": 0}, {"purpose": Purpose.CHECK}, {"held_at": NOW}],
        ids=["without a free slot", "planted as a check", "held"],
    )
    def test_never_claims_a_comparison(self, study, rater, fields):
        make_comparison(study=study, **fields)
        make_comparison()  # nor of another study

        assert lease_next(rater) is None

        rater.refresh_from_db()
        assert rater.state == RaterState.ACTIVE

    def test_looks_from_a_drawn_place_onwards_and_then_from_the_start(self, study, rater):
        start = design.place_to_start(design.Place(study.seed, rater.drawn_by, 1))
        early = make_comparison(study=study, position=start - 1)
        late = make_comparison(study=study, position=start)

        assert judge_all(rater) == [late, early]

    def test_never_shows_one_context_twice_running_while_there_is_another(self, study, rater):
        first = make_comparison(study=study, position=0)
        same = [make_completion(context=first.context) for _ in range(2)]
        for place, second in enumerate(same, start=1):
            make_comparison(study=study, position=place, first=first.first, second=second)
        make_comparison(study=study, position=3)

        contexts = [comparison.context_id == first.context_id for comparison in judge_all(rater)]

        assert contexts == [True, False, True, True]

    @pytest.mark.parametrize(
        "outcome", [LeaseOutcome.SUBMITTED, LeaseOutcome.SKIPPED, LeaseOutcome.EXPIRED]
    )
    def test_never_shows_a_context_to_the_person_who_had_it_to_write_for(self, study, outcome):
        theirs, other = make_comparisons(study, 2)
        writer = make_writer(dataset=study.dataset)
        make_writing_lease(context=theirs.context, writer=writer, closed_at=NOW, outcome=outcome)
        make_writing_lease(context=other.context)

        assert judge_all(make_rater(study=study, writer=writer)) == [other]

    def test_takes_the_same_number_of_queries_however_large_the_study(
        self, study, rater, django_assert_num_queries
    ):
        make_comparisons(study, 12)
        make_lease(comparison=Comparison.objects.last())

        # Savepoint and its release; lock the rater with the study; look for an open lease; tally;
        # lock a comparison; store the rater's place; take its slot; store the lease.
        together = 1 if connection.vendor == "postgresql" else 2  # the slot and the lease
        with django_assert_num_queries(7 + together):
            lease_next(rater)


class TestSides:
    def test_of_a_pair_are_balanced_over_its_raters(self, study):
        comparison = make_comparison(study=study, slots_left=7)

        sides = [lease_next(make_rater(study=study)).first_side for _ in range(7)]

        comparison.refresh_from_db()
        assert {comparison.shown_first_as_a, comparison.shown_first_as_b} == {3, 4}
        assert sides.count(Side.A) == comparison.shown_first_as_a

    def test_of_a_rater_are_balanced_over_new_pairs(self, study, rater):
        make_comparisons(study, 8)

        judge_all(rater)

        sides = [lease.first_side for lease in rater.leases.all()]
        assert sides.count(Side.A) == sides.count(Side.B) == 4


class TestSkipComparison:
    def test_gives_the_slot_back_once_and_keeps_the_first_reason(self, lease):
        skip(lease, reason="unclear", now=NOW + SECOND)
        skip(lease, reason="upsetting", now=NOW + HOUR)

        lease.refresh_from_db()
        comparison = Comparison.objects.get()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, "unclear")
        assert lease.closed_at == NOW + SECOND
        shown = (comparison.shown_first_as_a, comparison.shown_first_as_b)
        assert (comparison.slots_left, shown) == (5, (0, 0))

    def test_changes_nothing_when_the_pair_was_answered_in_another_tab(self, lease):
        submit(lease, now=NOW)

        skip(lease)

        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SUBMITTED, "")
        assert Comparison.objects.get().slots_left == 4

    def test_refuses_the_token_of_another_rater_and_one_that_nobody_has(self, study, lease):
        other = make_rater(study=study)

        for token in (lease.token, uuid.uuid4()):
            with pytest.raises(assignment_slots.LeaseNotFoundError):
                leasing.skip_comparison(token=token, rater=other, reason="unclear", now=NOW)

        lease.refresh_from_db()
        assert lease.closed_at is None


class TestStopJudging:
    def test_ends_the_raters_part_and_gives_the_open_slot_back(self, study, rater):
        first, second = make_comparisons(study, 2)
        submit(lease_next(rater), now=NOW)
        lease = lease_next(rater)

        for now in (NOW + SECOND, NOW + HOUR):  # the second time for nothing
            leasing.stop_judging(rater=rater, now=now)

        rater.refresh_from_db()
        lease.refresh_from_db()
        assert (rater.state, rater.ended_at) == (RaterState.STOPPED, NOW + SECOND)
        assert (lease.outcome, lease.closed_at) == (LeaseOutcome.RELEASED, NOW + SECOND)
        slots = Comparison.objects.order_by("position").values_list("slots_left", flat=True)
        assert list(slots) == [first.slots_left - 1, second.slots_left]
        assert rater.judgments.count() == 1


class TestReleaseExpiredLeases:
    def test_closes_what_ran_out_once_and_nothing_else(self, study):
        comparison = make_comparison(study=study, slots_left=5)
        late, open_, answered = (lease_next(make_rater(study=study)) for _ in range(3))
        Lease.objects.filter(pk=open_.pk).update(expires_at=late.expires_at + SECOND)
        submit(answered, now=NOW)
        release = leasing.release_expired_leases

        assert release(now=late.expires_at - SECOND) == 0
        assert [release(now=late.expires_at) for _ in range(2)] == [1, 0]

        outcomes = [Lease.objects.get(pk=one.pk).outcome for one in (late, open_, answered)]
        comparison.refresh_from_db()
        assert outcomes == [LeaseOutcome.EXPIRED, "", LeaseOutcome.SUBMITTED]
        assert comparison.slots_left == 3
        assert comparison.shown_first_as_a + comparison.shown_first_as_b == 2

    def test_leaves_simulated_raters_to_a_time_of_their_own(self):
        study = make_study(is_simulated=True, title="A simulated study")
        make_comparison(study=study)
        lease_next(make_rater(study=study, is_simulated=True))

        assert leasing.release_expired_leases(now=NOW + 100 * HOUR) == 0
        assert leasing.release_expired_leases(now=NOW + HOUR, is_simulated=True) == 1

    def test_asks_once_where_nothing_ran_out_and_for_no_order(self, lease):
        """An ordered question makes SQLite go through all leases that there ever were."""
        with CaptureQueriesContext(connection) as asked:
            leasing.release_expired_leases(now=NOW)

        reads = [one["sql"] for one in asked if one["sql"].startswith("SELECT")]
        assert len(reads) == 1
        assert "ORDER BY" not in reads[0]


class TestFinishWithNothingLeft:
    def finish(self, rater):
        leasing.finish_with_nothing_left(rater=rater, now=NOW)
        rater.refresh_from_db()
        return rater.state

    def test_who_answered_something_has_finished(self, study, rater):
        make_comparison(study=study)
        judge_all(rater)

        assert self.finish(rater) == RaterState.FINISHED
        assert rater.ended_at == NOW
        leasing.stop_judging(rater=rater, now=NOW + SECOND)
        rater.refresh_from_db()
        assert (rater.state, rater.ended_at) == (RaterState.FINISHED, NOW)

    def test_who_came_too_late_finds_the_study_full(self, study, rater):
        make_comparison(study=study, slots_left=0)

        assert self.finish(rater) == RaterState.FULL

    def test_who_left_out_all_that_was_shown_has_stopped(self, study, rater):
        make_comparison(study=study)
        skip(lease_next(rater), reason="unclear")

        assert self.finish(rater) == RaterState.STOPPED

    def test_changes_nothing_while_a_pair_is_left_or_open(self, study, rater):
        make_comparison(study=study, slots_left=1)
        assert self.finish(rater) == RaterState.ACTIVE
        lease_next(rater)

        assert self.finish(rater) == RaterState.ACTIVE

    def test_changes_nothing_after_the_end(self, rater):
        leasing.stop_judging(rater=rater, now=NOW)

        assert self.finish(rater) == RaterState.STOPPED


class TestPauseJudging:
    """A break stops the clock of the open pair."""

    def pause(self, rater, *minutes):
        for minute in minutes:
            leasing.pause_judging(rater=rater, now=NOW + minute * MINUTE)

    def test_keeps_time_on_a_break_apart_and_a_second_break_adds_to_the_first(self, rater, lease):
        self.pause(rater, 1)
        lease_next(rater, NOW + 11 * MINUTE)
        self.pause(rater, 12)
        lease_next(rater, NOW + 14 * MINUTE)

        judgment = submit(lease, now=NOW + 15 * MINUTE)

        assert judgment.paused_ms == 12 * 60_000
        assert judgment.submitted_at - judgment.shown_at == 15 * MINUTE
        lease.refresh_from_db()
        assert lease.paused_at is None

    def test_pausing_again_goes_on_with_the_same_break(self, rater, lease):
        self.pause(rater, 1, 5)

        lease.refresh_from_db()
        assert lease.paused_at == NOW + MINUTE

    def test_ends_with_an_answer_from_another_tab(self, rater, lease):
        self.pause(rater, 1)

        assert submit(lease, now=NOW + 3 * MINUTE).paused_ms == 2 * 60_000
        assert Lease.objects.get().paused_at is None

    def test_without_an_open_pair_it_changes_nothing(self, rater):
        self.pause(rater, 0)

        assert not rater.leases.exists()


def withdraw_the_writer(lease):
    writer = make_writer(dataset=lease.rater.study.dataset)
    Completion.objects.filter(pk=lease.comparison.first_id).update(writer=writer)
    withdrawing.withdraw_writer(writer=writer, keep_texts=False, now=NOW)


def hear_of_the_platform(lease):
    make_submission(rater=lease.rater, session_id="x-1")
    event = Event("e-1", SUBMISSION, "RETURNED", lease.rater.external_id, "x-1")
    submissions.take_event(study=lease.rater.study, event=event, now=NOW)


ENDINGS = {
    "skip": lambda lease: skip(lease, reason="unclear"),
    "stop": lambda lease: leasing.stop_judging(rater=lease.rater, now=NOW),
    "time": lambda _lease: leasing.release_expired_leases(now=NOW + HOUR),
    "report": lambda one: report_context(token=one.token, rater=one.rater, kind=UPSET, now=NOW),
    "withdrawal": lambda lease: withdrawing.withdraw_rater(rater=lease.rater, now=NOW),
    "withdrawal of the writer": withdraw_the_writer,
    "news of the platform": hear_of_the_platform,
}


@pytest.mark.parametrize("way", ENDINGS)
def test_a_slot_comes_back_though_a_deadlock_ended_its_return(study, monkeypatch, way):
    make_comparison(study=study, slots_left=5)
    lease = lease_next(make_rater(study=study, platform=Platform.PROLIFIC, external_id="p-17"))
    ended = OperationalError()
    ended.__cause__ = DeadlockDetected()
    closing = Mock(wraps=timed.closing, side_effect=[ended, DEFAULT])
    monkeypatch.setattr(timed, "closing", closing)

    ENDINGS[way](lease)

    assert (closing.call_count, Comparison.objects.get().slots_left) == (2, 5)
    assert not Lease.objects.filter(closed_at=None).exists()
