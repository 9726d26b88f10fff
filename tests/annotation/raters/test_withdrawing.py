"""Withdrawal removes a person's words and identity, and their answers from the analysis."""

from functools import partial

import pytest

from access.models import LogEntry
from annotation.choices import Platform, RaterState
from annotation.judging.services import leasing
from annotation.models import Comparison, Judgment, Report
from annotation.raters.services import withdrawing
from annotation.studies.verdicts import Answer
from completions.choices import LeaseOutcome
from ranking.judgments.analysis_set import n_judgments
from tests.helpers.factories import (
    CONTENT,
    HOUR,
    NOW,
    make_comparison,
    make_judgment,
    make_lease,
    make_quality_check,
    make_rater,
    make_study,
)
from tests.helpers.factories_of_people import make_report
from tests.helpers.judged import lease_next, make_comparisons, submit
from tests.helpers.threads import together

pytestmark = pytest.mark.django_db
ANSWER = Answer(verdict=1, rationale="My own words about it.", chips=frozenset({"warm"}))


@pytest.fixture
def rater(now):
    chips = [{"key": "warm", "words": "warm", "theme": "warmth"}]
    study = make_study(content=CONTENT | {"chips": chips})
    for _ in range(2):
        make_comparison(study=study, slots_left=3)
    rater = make_rater(
        study=study,
        platform=Platform.PROLIFIC,
        external_id="p-77",
        session={"STUDY_ID": "s", "SESSION_ID": "x"},
    )
    submit(lease_next(rater, now), ANSWER, now=now)
    lease_next(rater, now)
    return rater


class TestWithdrawRater:
    def test_removes_words_identity_and_answers_and_gives_every_slot_back(self, rater, now):
        make_report(lease=rater.leases.get(number=1), text="It was like my own story.")
        assert n_judgments(study=rater.study, as_of=now) == 1

        for _ in range(2):  # repeating it changes nothing
            withdrawing.withdraw_rater(rater=rater, now=now)

        rater.refresh_from_db()
        assert (rater.external_id, rater.bound_by) == ("", "")
        submission = rater.submissions.get()
        assert (submission.session_id, submission.ids) == ("", {})
        judgment = Judgment.objects.get()
        assert (judgment.rationale, judgment.chips, Report.objects.get().text) == ("", "", "")
        assert n_judgments(study=rater.study, as_of=now) == 0
        rows = Comparison.objects.values_list("slots_left", "shown_first_as_a", "shown_first_as_b")
        assert list(rows) == [(3, 0, 0), (3, 0, 0)]
        assert LogEntry.objects.filter(action="rater.withdrew").count() == 1

    def test_ends_the_rater_for_good(self, rater, now):
        withdrawing.withdraw_rater(rater=rater, now=now)

        rater.refresh_from_db()
        assert rater.state == RaterState.WITHDRAWN
        with pytest.raises(leasing.RaterEndedError):
            lease_next(rater, now)

    def test_gives_no_slot_back_for_planted_and_repeated_pairs(self, rater, now):
        study = rater.study
        planted = make_comparison(study=study, slots_left=3)
        check = make_quality_check(comparison=planted)
        closed = {"closed_at": now, "outcome": LeaseOutcome.SUBMITTED}
        first = rater.leases.get(number=1)
        for fields in (
            {"comparison": planted, "quality_check": check},
            {"comparison": first.comparison, "repeats": first},
        ):
            lease = make_lease(rater=rater, **fields, **closed)
            make_judgment(comparison=lease.comparison, rater=rater, lease=lease)

        withdrawing.withdraw_rater(rater=rater, now=now)

        assert set(Comparison.objects.values_list("slots_left", flat=True)) == {3}

    def test_an_ended_rater_may_withdraw(self, rater, now):
        leasing.stop_judging(rater=rater, now=now)

        withdrawing.withdraw_rater(rater=rater, now=now + HOUR)

        rater.refresh_from_db()
        assert (rater.state, rater.ended_at) == (RaterState.WITHDRAWN, now + HOUR)
        assert n_judgments(study=rater.study, as_of=now) == 1
        assert n_judgments(study=rater.study, as_of=now + HOUR) == 0


class TestWithdrawRaterAndKeepTheAnswers:
    def test_removes_identity_and_keeps_what_was_said_in_the_analysis(self, rater, now):
        withdrawing.withdraw_rater(rater=rater, now=now, keep_answers=True)

        rater.refresh_from_db()
        assert (rater.external_id, rater.writer) == ("", None)
        assert not rater.submissions.get().session_id
        assert (rater.state, rater.data_kept) == (RaterState.WITHDRAWN, True)
        assert Judgment.objects.get().rationale == ANSWER.rationale
        assert Judgment.objects.get().chips == "warm"
        assert n_judgments(study=rater.study, as_of=now + HOUR) == 1
        slots = sorted(Comparison.objects.values_list("slots_left", flat=True))
        assert slots == [2, 3], "the open slot alone is given back"

    def test_may_be_followed_by_deleting(self, rater, now):
        withdrawing.withdraw_rater(rater=rater, now=now, keep_answers=True)
        withdrawing.withdraw_rater(rater=rater, now=now + HOUR)

        rater.refresh_from_db()
        assert not rater.data_kept
        assert Judgment.objects.get().rationale == ""
        assert n_judgments(study=rater.study, as_of=now + HOUR) == 0
        assert set(Comparison.objects.values_list("slots_left", flat=True)) == {3}

    def test_cannot_call_back_what_was_deleted(self, rater, now):
        withdrawing.withdraw_rater(rater=rater, now=now)
        withdrawing.withdraw_rater(rater=rater, now=now + HOUR, keep_answers=True)

        rater.refresh_from_db()
        assert not rater.data_kept
        actions = LogEntry.objects.filter(action="rater.withdrew").values_list("after", flat=True)
        assert list(actions) == [{"answers": "deleted"}]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("shared_database")
def test_people_who_leave_at_once_give_every_slot_back_and_wait_in_no_circle():
    study = make_study()
    make_comparisons(study, 8)
    raters = [make_rater(study=study) for _ in range(4)]
    for rater in raters:
        for _ in range(6):
            submit(lease_next(rater), now=NOW)
        lease_next(rater)

    together([partial(withdrawing.withdraw_rater, rater=rater, now=NOW) for rater in raters])

    rows = study.comparisons.values_list("slots_left", "shown_first_as_a", "shown_first_as_b")
    assert set(rows) == {(5, 0, 0)}
