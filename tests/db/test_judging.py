"""How a rater's answer becomes a judgment."""

import datetime as dt
import uuid

import pytest

from annotation import selectors, services
from annotation.choices import Protocol, RaterState, Side, StudyState
from annotation.models import DimensionMark, Judgment, Lease
from annotation.verdicts import Answer, InvalidAnswerError
from completions.choices import LeaseOutcome
from tests.factories import HOUR, NOW, make_comparison, make_lease, make_rater, make_study

pytestmark = pytest.mark.django_db

SECOND = dt.timedelta(seconds=1)
ANSWER = Answer(1, "It names the loss.")


def submit(lease, answer=ANSWER, *, now=NOW + 40 * SECOND, hidden_ms=0, rater=None):
    return services.submit_judgment(
        token=lease.token,
        rater=rater or lease.rater,
        answer=answer,
        hidden_ms=hidden_ms,
        now=now,
    )


def skip(lease):
    services.skip_comparison(token=lease.token, rater=lease.rater, reason="unclear", now=NOW)


def marks_of(judgment):
    return dict(judgment.marks.values_list("dimension", "advantage"))


def make_open_lease(*, protocol=Protocol.PREFERENCE, first_side=Side.A, slots_left=4, **fields):
    """Lease a slot as the service does: the counters of the comparison agree with it."""
    study = make_study(protocol=protocol, **fields)
    comparison = make_comparison(
        study=study,
        slots_left=slots_left,
        shown_first_as_a=int(first_side == Side.A),
        shown_first_as_b=int(first_side == Side.B),
    )
    return make_lease(comparison=comparison, first_side=first_side)


def make_expired_lease(*, slots_left=4, **fields):
    """Lease a slot that is then given back; others left ``slots_left`` of them meanwhile."""
    lease = make_open_lease(**fields)
    services.release_expired_leases(now=NOW + HOUR)
    lease.comparison.slots_left = slots_left
    lease.comparison.save(update_fields=["slots_left"])
    return lease


class TestSubmitJudgment:
    @pytest.mark.parametrize(
        ("protocol", "first_side", "on_screen", "stored"),
        [
            (Protocol.PREFERENCE, Side.A, 2, 2),
            (Protocol.PREFERENCE, Side.B, 2, -2),
            (Protocol.PREFERENCE, Side.A, -1, -1),
            (Protocol.PREFERENCE, Side.B, -1, 1),
            (Protocol.PREFERENCE, Side.B, 0, 0),
            (Protocol.RUBRIC, Side.A, 5, 5),
            (Protocol.RUBRIC, Side.B, 5, -5),
            (Protocol.RUBRIC, Side.B, -3, 3),
        ],
    )
    def test_stores_the_verdict_in_the_canonical_frame(
        self, protocol, first_side, on_screen, stored
    ):
        lease = make_open_lease(protocol=protocol, first_side=first_side)

        judgment = submit(lease, Answer(on_screen, "warm"))

        judgment.refresh_from_db()
        assert (judgment.verdict, judgment.first_side) == (stored, first_side)
        assert judgment.protocol == protocol

    @pytest.mark.parametrize(("first_side", "sign"), [(Side.A, 1), (Side.B, -1)])
    def test_stores_marks_in_the_canonical_frame(self, first_side, sign):
        lease = make_open_lease(protocol=Protocol.RUBRIC, first_side=first_side)

        judgment = submit(lease, Answer(2, "", {"H": 1, "E": 0, "T": -1}))

        assert marks_of(judgment) == {"H": sign, "E": 0, "T": -sign}

    def test_stores_who_answered_what_when_and_under_which_protocol(self):
        lease = make_open_lease()

        judgment = submit(lease, now=NOW + 40 * SECOND, hidden_ms=9000)

        judgment.refresh_from_db()
        assert (judgment.rater, judgment.lease) == (lease.rater, lease)
        assert judgment.comparison == lease.comparison
        assert judgment.rationale == "It names the loss."
        assert (judgment.shown_at, judgment.submitted_at) == (NOW, NOW + 40 * SECOND)
        assert judgment.hidden_ms == 9000
        assert judgment.protocol_hash == lease.comparison.study.protocol_hash
        assert not judgment.is_surplus

    def test_closes_the_lease_and_keeps_the_slot(self):
        lease = make_open_lease(slots_left=4)

        submit(lease)

        lease.refresh_from_db()
        lease.comparison.refresh_from_db()
        assert (lease.outcome, lease.closed_at) == (LeaseOutcome.SUBMITTED, NOW + 40 * SECOND)
        assert lease.comparison.slots_left == 4

    def test_accepts_an_answer_after_its_time_as_long_as_nobody_took_the_slot_back(self):
        lease = make_open_lease(slots_left=0)

        assert not submit(lease, now=NOW + 5 * HOUR).is_surplus

    @pytest.mark.parametrize(
        ("reported", "stored"), [(-5, 0), (39_999, 39_999), (40_001, 40_000)], ids=str
    )
    def test_bounds_the_hidden_time_by_the_time_there_was(self, reported, stored):
        judgment = submit(make_open_lease(), hidden_ms=reported, now=NOW + 40 * SECOND)

        assert judgment.hidden_ms == stored

    def test_does_not_lose_an_answer_when_the_clock_was_set_back(self):
        judgment = submit(make_open_lease(), now=NOW - HOUR)

        assert judgment.submitted_at == judgment.shown_at

    @pytest.mark.parametrize("state", [StudyState.PAUSED, StudyState.CLOSED])
    def test_keeps_the_answer_to_a_pair_shown_before_the_study_stopped(self, state):
        assert submit(make_open_lease(state=state)).pk

    def test_takes_the_same_number_of_queries_whatever_came_before(self, django_assert_num_queries):
        lease = make_open_lease(protocol=Protocol.RUBRIC)

        # Savepoint and its release; lock the rater with the study; lock the lease; look for a
        # judgment; store it; store the marks; close the lease.
        with django_assert_num_queries(8):
            submit(lease, Answer(2, "", {"H": 1, "E": 0}))


class TestARepeatedSubmission:
    def test_returns_the_judgment_already_stored(self):
        lease = make_open_lease(protocol=Protocol.RUBRIC, first_side=Side.B)
        answer = Answer(2, "warm", {"H": 1})
        judgment = submit(lease, answer)

        again = submit(lease, answer, now=NOW + HOUR)

        assert again == judgment
        assert Judgment.objects.count() == DimensionMark.objects.count() == 1

    @pytest.mark.parametrize(
        "changed",
        [Answer(-2, "warm", {"H": 1}), Answer(2, "warmer", {"H": 1}), Answer(2, "warm", {"H": 0})],
        ids=["verdict", "rationale", "mark"],
    )
    def test_with_another_answer_is_stored_as_its_revision(self, changed):
        lease = make_open_lease(protocol=Protocol.RUBRIC)
        judgment = submit(lease, Answer(2, "warm", {"H": 1}))

        revision = submit(lease, changed, now=NOW + HOUR)

        judgment.refresh_from_db()
        assert revision.revises == judgment
        assert (judgment.verdict, judgment.rationale, marks_of(judgment)) == (2, "warm", {"H": 1})
        assert (revision.verdict, revision.rationale) == (changed.verdict, changed.rationale)
        assert marks_of(revision) == changed.marks
        assert selectors.current_judgment(lease) == revision

    def test_leaves_the_lease_as_the_first_one_closed_it(self):
        lease = make_open_lease()
        submit(lease)

        submit(lease, Answer(-1, "no"), now=NOW + HOUR)

        lease.refresh_from_db()
        assert lease.closed_at == NOW + 40 * SECOND

    def test_back_to_the_first_answer_is_a_second_revision(self):
        lease = make_open_lease()
        first = submit(lease, Answer(1, "warm"))
        second = submit(lease, Answer(-1, "warm"))

        third = submit(lease, Answer(1, "warm"))

        assert [first.revises, second.revises, third.revises] == [None, first, second]
        assert selectors.current_judgment(lease) == third

    def test_of_a_revision_returns_the_revision(self):
        lease = make_open_lease()
        submit(lease, Answer(1, "warm"))
        revision = submit(lease, Answer(-1, "warm"))

        assert submit(lease, Answer(-1, "warm")) == revision


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
        services.stop_judging(rater=lease.rater, now=NOW)

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

        with pytest.raises(services.LeaseNotFoundError):
            submit(lease)

        assert not Judgment.objects.exists()

    def test_has_the_token_of_another_rater(self):
        lease = make_open_lease()

        with pytest.raises(services.LeaseNotFoundError):
            submit(lease, rater=make_rater(study=lease.comparison.study))

        assert self.nothing_is_stored(lease)

    def test_comes_from_a_rater_who_has_withdrawn(self):
        lease = make_open_lease()
        lease.rater.state, lease.rater.ended_at = RaterState.WITHDRAWN, NOW
        lease.rater.save()

        with pytest.raises(services.LeaseNotFoundError):
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
