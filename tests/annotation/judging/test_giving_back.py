"""How the slot of a comparison comes back when it is not answered."""

import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.assignment import slots as assignment_slots
from annotation.choices import RaterState
from annotation.judging import services as judging_services
from annotation.models import Comparison, Lease
from completions.choices import LeaseOutcome
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_rater,
    make_study,
)
from tests.helpers.judged import SECOND, lease_next, make_comparisons, skip, submit

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study(lease_minutes=30)


@pytest.fixture
def rater(study):
    return make_rater(study=study)


class TestSkipComparison:
    def test_gives_the_slot_back_and_keeps_the_reason(self, study, rater):
        comparison = make_comparison(study=study, slots_left=5)
        lease = lease_next(rater)

        skip(lease, reason="unclear", now=NOW + SECOND)

        lease.refresh_from_db()
        comparison.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, "unclear")
        assert lease.closed_at == NOW + SECOND
        assert comparison.slots_left == 5

    def test_changes_nothing_when_repeated(self, study, rater):
        comparison = make_comparison(study=study, slots_left=5)
        lease = lease_next(rater)
        skip(lease, reason="unclear")

        skip(lease, reason="upsetting", now=NOW + SECOND)

        lease.refresh_from_db()
        comparison.refresh_from_db()
        assert (lease.skip_reason, lease.closed_at) == ("unclear", NOW)
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

    def test_refuses_a_token_that_nobody_has(self, rater):
        with pytest.raises(assignment_slots.LeaseNotFoundError):
            judging_services.skip_comparison(
                token=uuid.uuid4(), rater=rater, reason="unclear", now=NOW
            )

    def test_refuses_the_token_of_another_rater(self, study, rater):
        make_comparison(study=study)
        lease = lease_next(rater)

        with pytest.raises(assignment_slots.LeaseNotFoundError):
            judging_services.skip_comparison(
                token=lease.token, rater=make_rater(study=study), reason="unclear", now=NOW
            )

        lease.refresh_from_db()
        assert lease.closed_at is None


class TestStopJudging:
    def test_ends_the_raters_part_and_gives_the_open_slot_back(self, study, rater):
        first, second = make_comparisons(study, 2)
        submit(lease_next(rater), now=NOW)
        lease = lease_next(rater)

        judging_services.stop_judging(rater=rater, now=NOW + SECOND)

        rater.refresh_from_db()
        lease.refresh_from_db()
        assert (rater.state, rater.ended_at) == (RaterState.STOPPED, NOW + SECOND)
        assert (lease.outcome, lease.closed_at) == (LeaseOutcome.RELEASED, NOW + SECOND)
        slots = Comparison.objects.order_by("position").values_list("slots_left", flat=True)
        assert list(slots) == [first.slots_left - 1, second.slots_left]
        assert rater.judgments.count() == 1

    def test_changes_nothing_when_repeated(self, rater):
        judging_services.stop_judging(rater=rater, now=NOW)

        judging_services.stop_judging(rater=rater, now=NOW + SECOND)

        rater.refresh_from_db()
        assert rater.ended_at == NOW

    def test_leaves_a_finished_rater_finished(self, study):
        rater = make_rater(study=study, state=RaterState.FINISHED, ended_at=NOW)

        judging_services.stop_judging(rater=rater, now=NOW + SECOND)

        rater.refresh_from_db()
        assert (rater.state, rater.ended_at) == (RaterState.FINISHED, NOW)


class TestReleaseExpiredLeases:
    def test_closes_what_ran_out_and_nothing_else(self, study):
        comparison = make_comparison(study=study, slots_left=5)
        late, open_, answered = (lease_next(make_rater(study=study)) for _ in range(3))
        Lease.objects.filter(pk=open_.pk).update(expires_at=NOW + HOUR + SECOND)
        submit(answered, now=NOW)

        assert judging_services.release_expired_leases(now=NOW + HOUR) == 1

        outcomes = [Lease.objects.get(pk=one.pk).outcome for one in (late, open_, answered)]
        comparison.refresh_from_db()
        assert outcomes == [LeaseOutcome.EXPIRED, "", LeaseOutcome.SUBMITTED]
        assert comparison.slots_left == 3
        assert comparison.shown_first_as_a + comparison.shown_first_as_b == 2

    def test_leaves_simulated_raters_to_a_time_of_their_own(self):
        study = make_study(is_simulated=True, title="A simulated study")
        make_comparison(study=study)
        lease_next(make_rater(study=study, is_simulated=True))

        assert judging_services.release_expired_leases(now=NOW + 100 * HOUR) == 0
        assert judging_services.release_expired_leases(now=NOW + HOUR, is_simulated=True) == 1

    def test_asks_once_where_nothing_ran_out_and_for_no_order(self, study, rater):
        """An ordered question makes SQLite go through all leases that there ever were."""
        make_comparison(study=study)
        lease_next(rater)

        with CaptureQueriesContext(connection) as asked:
            judging_services.release_expired_leases(now=NOW)

        reads = [one["sql"] for one in asked if one["sql"].startswith("SELECT")]
        assert len(reads) == 1
        assert "ORDER BY" not in reads[0]

    def test_finds_nothing_more_when_repeated(self, study, rater):
        comparison = make_comparison(study=study, slots_left=5)
        lease_next(rater)
        judging_services.release_expired_leases(now=NOW + HOUR)

        assert judging_services.release_expired_leases(now=NOW + HOUR) == 0

        comparison.refresh_from_db()
        assert comparison.slots_left == 5

    @pytest.mark.parametrize(
        ("late_by", "n_released"),
        [(-SECOND, 0), (0 * SECOND, 1)],
        ids=["not before", "from that moment"],
    )
    def test_takes_the_time_of_expiry_as_the_first_moment(self, study, rater, late_by, n_released):
        make_comparison(study=study)
        lease = lease_next(rater)

        assert judging_services.release_expired_leases(now=lease.expires_at + late_by) == n_released
