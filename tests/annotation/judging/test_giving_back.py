"""How the slot of a comparison comes back, how a rater's part ends, and what a break does."""

import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.assignment import slots as assignment_slots
from annotation.choices import RaterState
from annotation.judging.services import leasing
from annotation.models import Comparison, Lease
from completions.choices import LeaseOutcome
from tests.helpers.factories import HOUR, NOW, make_comparison, make_rater, make_study
from tests.helpers.judged import SECOND, judge_all, lease_next, make_comparisons, skip, submit

pytestmark = pytest.mark.django_db
MINUTE = 60 * SECOND


@pytest.fixture
def study():
    return make_study(lease_minutes=30)


@pytest.fixture
def rater(study):
    return make_rater(study=study)


class TestSkipComparison:
    def test_gives_the_slot_back_once_and_keeps_the_first_reason(self, study, rater):
        comparison = make_comparison(study=study, slots_left=5)
        lease = lease_next(rater)

        skip(lease, reason="unclear", now=NOW + SECOND)
        skip(lease, reason="upsetting", now=NOW + HOUR)

        lease.refresh_from_db()
        comparison.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, "unclear")
        assert lease.closed_at == NOW + SECOND
        assert comparison.slots_left == 5

    def test_changes_nothing_when_the_pair_was_answered_in_another_tab(self, study, rater):
        comparison = make_comparison(study=study, slots_left=5)
        lease = lease_next(rater)
        submit(lease, now=NOW)

        skip(lease)

        lease.refresh_from_db()
        comparison.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SUBMITTED, "")
        assert comparison.slots_left == 4

    def test_refuses_the_token_of_another_rater_and_one_that_nobody_has(self, study, rater):
        make_comparison(study=study)
        lease = lease_next(rater)
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

    def test_asks_once_where_nothing_ran_out_and_for_no_order(self, study, rater):
        """An ordered question makes SQLite go through all leases that there ever were."""
        make_comparison(study=study)
        lease_next(rater)

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

    def test_keeps_time_on_a_break_apart_and_a_second_break_adds_to_the_first(self, study, rater):
        make_comparison(study=study)
        lease = lease_next(rater)
        self.pause(rater, 1)
        lease_next(rater, NOW + 11 * MINUTE)
        self.pause(rater, 12)
        lease_next(rater, NOW + 14 * MINUTE)

        judgment = submit(lease, now=NOW + 15 * MINUTE)

        assert judgment.paused_ms == 12 * 60_000
        assert judgment.submitted_at - judgment.shown_at == 15 * MINUTE
        lease.refresh_from_db()
        assert lease.paused_at is None

    def test_pausing_again_goes_on_with_the_same_break(self, study, rater):
        make_comparison(study=study)
        lease = lease_next(rater)
        self.pause(rater, 1, 5)

        lease.refresh_from_db()
        assert lease.paused_at == NOW + MINUTE

    def test_ends_with_an_answer_from_another_tab(self, study, rater):
        make_comparison(study=study)
        lease = lease_next(rater)
        self.pause(rater, 1)

        assert submit(lease, now=NOW + 3 * MINUTE).paused_ms == 2 * 60_000
        assert Lease.objects.get().paused_at is None

    def test_without_an_open_pair_it_changes_nothing(self, rater):
        self.pause(rater, 0)

        assert not rater.leases.exists()
