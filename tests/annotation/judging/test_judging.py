"""How a rater's answer becomes a judgment."""

import pytest
from django.db import connection

from annotation.choices import Protocol, Side, StudyState
from annotation.models import DimensionMark, Judgment
from annotation.studies import selectors
from annotation.studies.verdicts import Answer
from completions.choices import LeaseOutcome
from tests.helpers.factories import HOUR, NOW
from tests.helpers.judged import SECOND, make_open_lease, submit

pytestmark = pytest.mark.django_db


def marks_of(judgment):
    return dict(judgment.marks.values_list("dimension", "advantage"))


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
        # judgment; store it; close the lease; store the marks.
        together = 1 if connection.vendor == "postgresql" else 2  # the judgment and the lease
        with django_assert_num_queries(6 + together):
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
