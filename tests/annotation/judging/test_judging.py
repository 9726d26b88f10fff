"""How an answer becomes a judgment: at once, again, late, or not at all."""

import uuid

import pytest
from django.db import connection

from annotation.assignment import slots
from annotation.choices import Protocol, RaterState, Side, StudyState
from annotation.judging.services import judging, leasing
from annotation.models import DimensionMark, Judgment, Lease, Rater, Study
from annotation.studies import queries as study_queries
from annotation.studies.verdicts import Answer, InvalidAnswerError
from completions.choices import LeaseOutcome
from tests.helpers.factories import HOUR, NOW, make_comparison, make_lease, make_rater, make_study
from tests.helpers.factories_written_once import make_exclusion
from tests.helpers.judged import (
    ANSWER,
    SECOND,
    credential_of,
    delete_text,
    lease_next,
    make_comparisons,
    make_expired_lease,
    make_open_lease,
    skip,
    submit,
)

pytestmark = pytest.mark.django_db
MARKS = {"H": 1, "E": 0, "T": -1}
RATINGS = {"H": 1, "E": 2, "A": 3, "R": 4, "T": 5}


def marks_of(judgment):
    return dict(judgment.marks.values_list("dimension", "advantage"))


class TestSubmitJudgment:
    @pytest.mark.parametrize(
        ("protocol", "first_side", "on_screen", "stored"),
        [
            (Protocol.PREFERENCE, Side.A, Answer(2, "warm"), (2, {})),
            (Protocol.PREFERENCE, Side.B, Answer(2, "warm"), (-2, {})),
            (Protocol.RUBRIC, Side.A, Answer(5, "", MARKS), (5, MARKS)),
            (Protocol.RUBRIC, Side.B, Answer(-3, "", MARKS), (3, {"H": -1, "E": 0, "T": 1})),
            (Protocol.LIKERT, Side.A, Answer(None, "", RATINGS), (None, RATINGS)),
        ],
    )
    def test_stores_verdict_and_marks_in_the_canonical_frame(
        self, protocol, first_side, on_screen, stored
    ):
        lease = make_open_lease(protocol=protocol, first_side=first_side)

        judgment = submit(lease, on_screen)

        judgment.refresh_from_db()
        assert (judgment.verdict, marks_of(judgment)) == stored
        assert (judgment.protocol, judgment.first_side) == (protocol, first_side)

    def test_stores_who_answered_what_and_when_closes_the_lease_and_keeps_the_slot(self):
        lease = make_open_lease(slots_left=4)

        judgment = submit(lease, now=NOW + 40 * SECOND, hidden_ms=9000)

        judgment.refresh_from_db()
        assert (judgment.rater, judgment.lease) == (lease.rater, lease)
        assert judgment.comparison == lease.comparison
        assert judgment.rationale == "It names the loss."
        assert (judgment.shown_at, judgment.submitted_at) == (NOW, NOW + 40 * SECOND)
        assert judgment.hidden_ms == 9000
        assert judgment.protocol_hash == lease.comparison.study.protocol_hash
        assert not judgment.is_surplus
        lease.refresh_from_db()
        lease.comparison.refresh_from_db()
        assert (lease.outcome, lease.closed_at) == (LeaseOutcome.SUBMITTED, NOW + 40 * SECOND)
        assert lease.comparison.slots_left == 4

    def test_accepts_an_answer_after_its_time_as_long_as_nobody_took_the_slot_back(self):
        lease = make_open_lease(slots_left=0)

        assert not submit(lease, now=NOW + 5 * HOUR).is_surplus

    @pytest.mark.parametrize(
        ("reported", "paused", "stored"),
        [(-5, 0, 0), (39_999, 0, 39_999), (40_001, 0, 40_000), (40_000, 10_000, 30_000)],
        ids=["less than none", "all but a moment", "too much", "breaks left out"],
    )
    def test_bounds_the_hidden_time_by_the_time_there_was(self, reported, paused, stored):
        lease = make_open_lease()
        Lease.objects.filter(pk=lease.pk).update(paused_ms=paused)

        judgment = submit(lease, hidden_ms=reported, now=NOW + 40 * SECOND)

        assert judgment.hidden_ms == stored

    def test_does_not_lose_an_answer_when_the_clock_was_set_back(self):
        judgment = submit(make_open_lease(), now=NOW - HOUR)

        assert judgment.submitted_at == judgment.shown_at

    @pytest.mark.parametrize("state", [StudyState.PAUSED, StudyState.CLOSED])
    def test_keeps_the_answer_to_a_pair_shown_before_the_study_stopped(self, state):
        assert submit(make_open_lease(state=state)).pk

    def test_takes_the_same_number_of_queries_whatever_came_before(self, django_assert_num_queries):
        lease = make_open_lease(protocol=Protocol.RUBRIC)

        # Savepoint and its release; lock the rater and the lease; read the study's file; store the
        # judgment; close the lease; store the marks.
        together = 1 if connection.vendor == "postgresql" else 2  # the judgment and the lease
        with django_assert_num_queries(5 + together):
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
        assert study_queries.current_judgment(lease) == revision

    def test_back_to_the_first_answer_is_a_second_revision_and_leaves_the_lease_closed(self):
        lease = make_open_lease()
        first = submit(lease, Answer(1, "warm"))
        second = submit(lease, Answer(-1, "warm"), now=NOW + HOUR)
        assert submit(lease, Answer(-1, "warm"), now=NOW + HOUR) == second

        third = submit(lease, Answer(1, "warm"), now=NOW + HOUR)

        assert [first.revises, second.revises, third.revises] == [None, first, second]
        assert study_queries.current_judgment(lease) == third
        lease.refresh_from_db()
        assert lease.closed_at == NOW + 40 * SECOND

    def test_changes_nothing_in_a_closed_study_and_may_be_sent_again_as_it_was(self):
        lease = make_open_lease()
        judgment = submit(lease, Answer(2, "warm"))
        Study.objects.update(state=StudyState.CLOSED)

        with pytest.raises(judging.StudyClosedError):
            submit(lease, Answer(-2, "warm"), now=NOW + HOUR)

        assert submit(lease, Answer(2, "warm"), now=NOW + HOUR) == judgment
        assert Judgment.objects.get() == judgment


def let_run_out(lease):
    leasing.release_expired_leases(now=lease.expires_at)


class TestALateAnswer:
    @pytest.mark.parametrize(
        ("slots_left", "is_surplus"), [(2, False), (0, True)], ids=["one is free", "all are filled"]
    )
    def test_takes_a_slot_again_and_is_surplus_where_none_is_free(self, slots_left, is_surplus):
        lease = make_expired_lease(slots_left=slots_left, first_side=Side.B)

        judgment = submit(lease, now=NOW + 2 * HOUR)

        lease.refresh_from_db()
        pair = lease.comparison
        pair.refresh_from_db()
        assert judgment.is_surplus == is_surplus
        taken = 0 if is_surplus else 1
        assert pair.slots_left == slots_left - taken
        assert (pair.shown_first_as_a, pair.shown_first_as_b) == (0, taken)
        assert lease.outcome == LeaseOutcome.SUBMITTED

    @pytest.mark.parametrize("is_swept", [True, False])
    def test_is_surplus_in_a_closed_study_whatever_is_free(self, is_swept):
        rater = make_rater()
        make_comparison(study=rater.study, slots_left=2)
        lease = lease_next(rater)
        Study.objects.update(state=StudyState.CLOSED)
        if is_swept:
            let_run_out(lease)

        with pytest.raises(leasing.StudyNotOpenError):
            lease_next(rater, lease.expires_at)
        assert submit(lease, now=lease.expires_at).is_surplus

        lease.refresh_from_db()
        assert lease.outcome == LeaseOutcome.SUBMITTED
        assert lease.comparison.slots_left == 2

    @pytest.mark.parametrize("leave", [skip, let_run_out])
    def test_gives_nobody_a_larger_part_than_a_session_is(self, leave):
        rater = make_rater(study=make_study(session_length=2))
        make_comparisons(rater.study, 4)
        left = []
        while (lease := lease_next(rater)) is not None:
            leave(lease)
            left.append(lease)

        given = [submit(lease, now=lease.expires_at) for lease in left]

        assert [one.is_surplus for one in given] == [False, False, True, True]

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
        submission = judging.Submission(lease.token, ANSWER)

        if at_once:
            following = judging.submit_and_assign_next(
                credential=credential_of(lease.rater), submission=submission, now=NOW + 2 * HOUR
            )
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
        leasing.stop_judging(rater=lease.rater, now=NOW)

        assert not submit(lease).is_surplus

        lease.comparison.refresh_from_db()
        assert lease.comparison.slots_left == 4

    def test_does_not_close_the_lease_that_the_rater_holds_by_then(self):
        late = make_expired_lease()
        held = make_lease(rater=late.rater)

        submit(late, now=NOW + 2 * HOUR)

        held.refresh_from_db()
        assert held.closed_at is None


class TestSubmitAndAssignNext:
    @pytest.fixture
    def lease(self):
        study = make_study()
        make_comparisons(study, 2)
        return lease_next(make_rater(study=study))

    def assign_next(self, lease, answer=ANSWER, *, now=NOW + SECOND):
        return judging.submit_and_assign_next(
            credential=credential_of(lease.rater),
            submission=judging.Submission(lease.token, answer),
            now=now,
        )

    def test_stores_the_answer_and_claims_the_next_pair_once(self, lease):
        step = self.assign_next(lease)

        assert Judgment.objects.get().lease == lease
        assert step == Lease.objects.get(closed_at=None)
        assert step.number == 2
        assert self.assign_next(lease) == step
        assert Judgment.objects.count() == 1

    def test_shows_the_waiting_pair_when_an_earlier_answer_is_changed(self, lease):
        waiting = self.assign_next(lease)

        assert self.assign_next(lease, Answer(-2, "The second one listens.")) == waiting
        assert Judgment.objects.count() == 2
        assert Lease.objects.count() == 2

    def test_ends_the_break_and_prolongs_the_time_of_the_waiting_pair(self, lease):
        waiting = self.assign_next(lease)
        leasing.pause_judging(rater=lease.rater, now=NOW + SECOND)

        shown = self.assign_next(lease, Answer(-2, "The second listens."), now=NOW + HOUR)

        assert (shown, shown.paused_at) == (waiting, None)
        assert shown.paused_ms == 3_599_000
        assert shown.expires_at > NOW + HOUR

    def test_shows_no_waiting_pair_of_which_a_text_was_deleted_meanwhile(self, lease):
        waiting = self.assign_next(lease)
        make_comparison(study=lease.rater.study, position=9)
        delete_text(waiting.comparison.first_id)

        shown = self.assign_next(lease, Answer(-2, "The second listens."))

        assert shown == Lease.objects.get(closed_at=None) != waiting

    def test_keeps_the_answer_of_an_excluded_rater_and_gives_no_more(self, lease):
        make_exclusion(rater=lease.rater)

        assert self.assign_next(lease) is None
        assert Judgment.objects.count() == 1

    @pytest.mark.parametrize(
        "change",
        [{"link_version": 2}, {"state": RaterState.WITHDRAWN, "ended_at": NOW}],
        ids=["by another link", "withdrawn"],
    )
    def test_takes_nothing_of_who_is_not_the_rater_any_more(self, lease, change):
        Rater.objects.update(**change)

        with pytest.raises(slots.LeaseNotFoundError):
            self.assign_next(lease)
        assert not Judgment.objects.exists()


class TestARefusedAnswer:
    def nothing_is_stored(self, lease):
        lease.refresh_from_db()
        return lease.closed_at is None and not Judgment.objects.exists()

    def test_has_no_token_or_anothers_or_comes_from_a_rater_who_has_withdrawn(self):
        lease = make_open_lease()
        token, rater = lease.token, lease.rater

        lease.token = uuid.uuid4()
        with pytest.raises(slots.LeaseNotFoundError):
            submit(lease)
        lease.token = token
        with pytest.raises(slots.LeaseNotFoundError):
            submit(lease, rater=make_rater(study=lease.comparison.study))
        rater.state, rater.ended_at = RaterState.WITHDRAWN, NOW
        rater.save()
        with pytest.raises(slots.LeaseNotFoundError):
            submit(lease)

        assert self.nothing_is_stored(lease)

    @pytest.mark.parametrize(
        ("protocol", "answer"),
        [
            (Protocol.PREFERENCE, Answer(3, "warm")),
            (Protocol.RUBRIC, Answer(1, "warm", {"X": 1})),
            (Protocol.LIKERT, Answer(None, "", dict.fromkeys("HEART", 6))),
        ],
        ids=["off five points", "unknown dimension", "off the scale"],
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
