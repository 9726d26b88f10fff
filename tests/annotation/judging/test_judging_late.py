"""Answers that come late, and answers that are refused."""

import uuid

import pytest

from annotation.assignment import slots
from annotation.choices import Protocol, RaterState, Side
from annotation.judging import services as judging_services
from annotation.models import Judgment, Lease
from annotation.studies.verdicts import Answer, InvalidAnswerError
from completions.choices import LeaseOutcome
from tests.helpers.factories import HOUR, NOW, make_comparison, make_lease, make_rater
from tests.helpers.judged import lease_next, make_expired_lease, make_open_lease, skip, submit

pytestmark = pytest.mark.django_db


class TestALateAnswer:
    def test_takes_a_slot_again_if_one_is_free(self):
        lease = make_expired_lease(slots_left=2, first_side=Side.B)

        judgment = submit(lease, now=NOW + 2 * HOUR)

        lease.refresh_from_db()
        lease.comparison.refresh_from_db()
        assert not judgment.is_surplus
        assert lease.comparison.slots_left == 1
        assert lease.comparison.shown_first_as_b == 1
        assert lease.outcome == LeaseOutcome.SUBMITTED

    def test_is_kept_as_surplus_when_others_filled_the_comparison(self):
        lease = make_expired_lease(slots_left=0)

        judgment = submit(lease, now=NOW + 2 * HOUR)

        lease.refresh_from_db()
        lease.comparison.refresh_from_db()
        assert judgment.is_surplus
        assert lease.comparison.slots_left == 0
        assert lease.comparison.shown_first_as_a == 0
        assert lease.outcome == LeaseOutcome.SUBMITTED

    def test_stays_surplus_when_revised_and_takes_no_slot_then(self):
        lease = make_expired_lease(slots_left=0)
        submit(lease, now=NOW + 2 * HOUR)
        lease.comparison.slots_left = 1
        lease.comparison.save(update_fields=["slots_left"])

        revision = submit(lease, Answer(-1, "no"), now=NOW + 3 * HOUR)

        lease.comparison.refresh_from_db()
        assert revision.is_surplus
        assert lease.comparison.slots_left == 1

    @pytest.mark.parametrize("at_once", [True, False], ids=["at once", "on a reload"])
    def test_counts_in_the_sides_that_the_rater_has_been_shown(self, at_once):
        lease = make_expired_lease(first_side=Side.B)
        make_comparison(study=lease.rater.study, position=9)
        credential = judging_services.RaterCredential(
            lease.rater.study.slug, lease.rater.code, lease.rater.link_version
        )
        submission = judging_services.Submission(lease.token, Answer(1, "late, but here"))

        if at_once:
            following = judging_services.submit_and_assign_next(
                credential=credential, submission=submission, now=NOW + 2 * HOUR
            ).lease
        else:
            submit(lease, now=NOW + 2 * HOUR)
            following = lease_next(lease.rater, now=NOW + 2 * HOUR)

        assert following is not None
        assert (following.rater_first_as_a, following.rater_first_as_b) == (0, 1)

    def test_counts_when_the_pair_was_skipped_in_another_tab(self):
        lease = make_open_lease(slots_left=4)
        skip(lease)

        judgment = submit(lease)

        lease.refresh_from_db()
        lease.comparison.refresh_from_db()
        assert not judgment.is_surplus
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SUBMITTED, "")
        assert lease.comparison.slots_left == 4

    def test_counts_when_the_rater_has_stopped_meanwhile(self):
        lease = make_open_lease(slots_left=4)
        judging_services.stop_judging(rater=lease.rater, now=NOW)

        assert not submit(lease).is_surplus

        lease.comparison.refresh_from_db()
        assert lease.comparison.slots_left == 4

    def test_does_not_close_the_lease_that_the_rater_holds_by_then(self):
        late = make_expired_lease()
        held = make_lease(rater=late.rater)

        submit(late, now=NOW + 2 * HOUR)

        held.refresh_from_db()
        assert held.closed_at is None


class TestARefusedAnswer:
    def nothing_is_stored(self, lease):
        lease.refresh_from_db()
        return lease.closed_at is None and not Judgment.objects.exists()

    def test_has_a_token_that_nobody_has(self):
        lease = make_open_lease()
        lease.token = uuid.uuid4()

        with pytest.raises(slots.LeaseNotFoundError):
            submit(lease)

        assert not Judgment.objects.exists()

    def test_has_the_token_of_another_rater(self):
        lease = make_open_lease()

        with pytest.raises(slots.LeaseNotFoundError):
            submit(lease, rater=make_rater(study=lease.comparison.study))

        assert self.nothing_is_stored(lease)

    def test_comes_from_a_rater_who_has_withdrawn(self):
        lease = make_open_lease()
        lease.rater.state, lease.rater.ended_at = RaterState.WITHDRAWN, NOW
        lease.rater.save()

        with pytest.raises(slots.LeaseNotFoundError):
            submit(lease)

        assert self.nothing_is_stored(lease)

    @pytest.mark.parametrize(
        ("protocol", "answer"),
        [
            (Protocol.PREFERENCE, Answer(3, "warm")),
            (Protocol.PREFERENCE, Answer(1, "warm", {"H": 1})),
            (Protocol.RUBRIC, Answer(0, "warm")),
            (Protocol.RUBRIC, Answer(1, "warm", {"X": 1})),
            (Protocol.RUBRIC, Answer(1, "warm", {"H": 6})),
        ],
        ids=["off five points", "marks unseen", "a tie", "unknown dimension", "mark too far"],
    )
    def test_is_not_one_that_the_protocol_admits(self, protocol, answer):
        lease = make_open_lease(protocol=protocol)

        with pytest.raises(InvalidAnswerError):
            submit(lease, answer)

        assert self.nothing_is_stored(lease)

    def test_leaves_a_judgment_that_is_there_as_it_is(self):
        lease = make_open_lease()
        judgment = submit(lease)

        with pytest.raises(InvalidAnswerError):
            submit(lease, Answer(9, "warm"))

        assert Judgment.objects.get() == judgment
        assert Lease.objects.get().outcome == LeaseOutcome.SUBMITTED
