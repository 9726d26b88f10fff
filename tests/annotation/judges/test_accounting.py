"""Every call is in one place of the account, so that the places sum to the calls."""

import numpy as np
import pytest

from annotation.choices import Protocol
from annotation.judges.ensembles import VoteStatus
from annotation.judges.verdict_queries import judges_figures
from annotation.models import Rater
from completions.choices import CallState, LeaseOutcome
from ranking.choices import ContextSet, EvaluatorPool
from ranking.judgments.analysis_set import Selection, selected
from ranking.raters import accounting
from ranking.raters.accounting import CLASSES, verdict_accounting
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_alone,
    make_comparison,
    make_judge,
    make_judgment,
    make_lease,
    make_llm_judgment,
    make_quality_check,
    make_rater,
    make_study,
)
from tests.helpers.factories_written_once import make_exclusion
from tests.helpers.judged import DONE, delete_text, judge_calls

pytestmark = pytest.mark.django_db

FAILED = {"state": CallState.FAILED, "ended_at": NOW}
INVALID = {"state": CallState.INVALID, "ended_at": NOW, "raw_answer": "Well."}


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def judge():
    return make_judge()


@pytest.fixture
def ask(study, judge):
    """Put one more comparison to the judge, with what came of it."""

    def put(*said, **fields):
        comparison = make_comparison(study=study)
        judge_calls(comparison, judge, said, **fields)
        return comparison

    return put


def the_row(study):
    (row,) = verdict_accounting(study)
    assert sum(row.cells) == row.n_calls
    return row


def filled(row):
    """Return the places that are not empty."""
    return {name: n for name, n in zip(CLASSES, row.cells, strict=True) if n}


def n_rated(study, pool):
    selection = Selection(study, pool, ContextSet.ALL, accounting.ALWAYS)
    return selected(selection).count()


class TestJudges:
    def test_an_answer_in_one_order_stands_though_the_other_failed(self, study, ask):
        ask("A+3", "B?", **FAILED, error_kind="timeout")

        assert filled(the_row(study)) == {"n_preferences": 1, "n_timed_out": 1}

    def test_every_call_has_a_place_by_its_state_and_by_how_it_failed(self, study, ask):
        ask("A+3", "B+1")
        ask("A+3", "B-1")
        ask("A+3", "A-3")
        others = ("server_error", "lost", "cancelled", "erased")
        for kind in ("content_filtered", "refused", "truncated", "empty", "timeout", *others):
            ask("A?", **FAILED, error_kind=kind)
        ask("A?", "B?", "B?", **INVALID, error_kind="invalid_answer")
        ask("A?")
        ask("A?", "B?", state=CallState.CLAIMED, claimed_at=NOW)

        row = the_row(study)

        assert filled(row) == {
            "n_preferences": 2,
            "n_unsettled": 2,
            "n_ties": 2,
            "n_refused": 2,
            "n_malformed": 5,
            "n_timed_out": 1,
            "n_other": 4,
            "n_waiting": 3,
        }
        assert row.others == dict.fromkeys(others, 1)
        assert (
            row.n_preferences + row.n_ties + row.n_unsettled
            == n_rated(study, EvaluatorPool.LLM)
            == 6
        )

    def test_an_answer_on_a_deleted_text_is_left_out(self, study, ask):
        delete_text(ask("A+3", "B-1").first_id)

        assert filled(the_row(study)) == {"n_left_out": 2}
        assert n_rated(study, EvaluatorPool.LLM) == 0

    def test_the_answers_of_an_excluded_judge_are_left_out(self, study, judge, ask):
        ask("A+3", "B-1")
        ask("A?", **FAILED, error_kind="timeout")
        make_exclusion(judge=judge)

        assert the_row(study).is_excluded
        assert filled(the_row(study)) == {"n_left_out": 2, "n_timed_out": 1}

    def test_counting_alike_pairs_at_once_is_counting_them_one_by_one(self, study, ask):
        rng = np.random.default_rng(20260105)
        for number in range(24):
            order = ("A", "B", "AB", "AAB")[number % 4]
            drawn = rng.choice((-4, -1, 2, 5), size=len(order))
            said = (f"{side}{verdict:+d}" for side, verdict in zip(order, drawn, strict=True))
            comparison = ask(*said)
            if number % 6 == 0:
                delete_text(comparison.first_id)
        (one,) = judges_figures(study).rows

        row = the_row(study)

        assert row.n_ties == one.answers[VoteStatus.TIED] > 0
        assert row.n_unsettled == one.answers[VoteStatus.UNSETTLED] > 0
        assert row.n_left_out == one.n_erased > 0
        assert row.n_calls == one.n_answers


class TestPeople:
    def test_every_pair_handed_out_has_one_place(self, study):
        pairs = [make_comparison(study=study) for _ in range(7)]
        make_judgment(comparison=pairs[0], verdict=2)
        make_judgment(comparison=pairs[1], verdict=0)
        make_judgment(comparison=pairs[2], verdict=-1, is_surplus=True)
        for pair, outcome in zip(pairs[3:6], ("SKIPPED", "EXPIRED", "RELEASED"), strict=True):
            make_lease(comparison=pair, closed_at=NOW, outcome=LeaseOutcome(outcome))
        make_lease(comparison=pairs[6], rater=make_rater(study=study))

        row = the_row(study)

        assert (row.slug, row.name) == ("", "People")
        places = ("preferences", "ties", "left_out", "refused", "timed_out", "other", "waiting")
        assert filled(row) == {f"n_{place}": 1 for place in places}
        assert row.n_preferences + row.n_ties == n_rated(study, EvaluatorPool.HUMAN)

    def test_an_answer_is_one_though_revised_or_given_after_its_lease_ran_out(self, study):
        first = make_judgment(comparison=make_comparison(study=study), verdict=2)
        make_judgment(revises=first, verdict=0)
        lease = make_lease(
            comparison=make_comparison(study=study), closed_at=NOW, outcome=LeaseOutcome.EXPIRED
        )
        make_judgment(comparison=lease.comparison, rater=lease.rater, lease=lease)

        assert filled(the_row(study)) == {"n_ties": 1, "n_preferences": 1}

    def test_nobody_asked_and_checks_alone_are_no_row(self, study):
        check = make_quality_check(comparison=make_comparison(study=study))
        make_lease(comparison=check.comparison, quality_check=check)

        assert verdict_accounting(study) == ()

    def test_answers_of_who_was_excluded_or_took_them_back_are_left_out(self, study):
        raters = [make_rater(study=study) for _ in range(3)]
        for rater in raters:
            make_judgment(comparison=make_comparison(study=study), rater=rater)
        make_exclusion(rater=raters[0])
        Rater.objects.filter(pk=raters[1].pk).update(
            data_kept=False, ended_at=NOW + HOUR, state="WITHDRAWN"
        )

        assert filled(the_row(study)) == {"n_preferences": 1, "n_left_out": 2}


class TestRows:
    def test_are_one_for_each_judge_and_then_one_for_people(self, study, ask):
        make_judgment(comparison=ask("A+3"))
        other = make_judge()
        judge_calls(make_comparison(study=study), other, ["A+1", "B+1"])
        judge_calls(make_comparison(), other, ["A+1"])  # in another study

        *judges, people = verdict_accounting(study)

        assert sorted(row.n_calls for row in judges) == [1, 2]
        assert (people.slug, people.n_calls) == ("", 1)

    def test_of_messages_alone_count_points_as_preferences(self):
        study = make_study(protocol=Protocol.LIKERT)
        (call,) = judge_calls(make_alone(study=study), make_judge(), ["A?"], **DONE)
        make_llm_judgment(
            comparison=call.comparison,
            judge=call.judge,
            judge_call=call,
            protocol=Protocol.LIKERT,
            verdict=None,
        )

        (one,) = judges_figures(study).rows

        assert filled(the_row(study)) == {"n_preferences": 1}
        assert (one.account.n_calls, one.n_answers) == (1, 1)

    def test_take_as_many_queries_for_many_calls(self, study, ask, django_assert_num_queries):
        for _ in range(5):
            make_judgment(comparison=ask("A+3", "B+1"))

        with django_assert_num_queries(8):
            verdict_accounting(study)
