"""Verdicts of judges and of their ensemble, what position does to them, and every call's fate."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from annotation.judges.ensembles import (
    FAILURES,
    NOT_FAILED,
    EnsembleOutcome,
    EnsembleVerdict,
    Fate,
    ImpossibleRepliesError,
    JudgeVerdict,
    Order,
    Position,
    Replies,
    UnknownCallError,
    VoteStatus,
    Winner,
    account,
    ensemble_verdict,
    fate,
    judge_verdict,
)
from completions.choices import CallState

VERDICTS = st.sampled_from([-5, -4, -3, -2, -1, 1, 2, 3, 4, 5])


def order_of(verdicts):
    named = [verdict for verdict in verdicts if verdict is not None]
    n_first = sum(verdict > 0 for verdict in named)
    return Order(len(verdicts), n_first, len(named) - n_first, sum(named))


def said(*, as_a=(), as_b=(), n_open=0):
    """What a judge said in each order, in the canonical frame; ``n_open`` of the Nones may yet."""
    return Replies(order_of(as_a), order_of(as_b), n_open)


@st.composite
def calls(draw):
    """One judge's calls on a comparison, at least one."""
    in_order = st.lists(st.none() | VERDICTS, max_size=4)
    as_a, as_b = draw(st.tuples(in_order, in_order).filter(any))
    n_open = draw(st.sampled_from([0, 0, [*as_a, *as_b].count(None)]))
    return said(as_a=as_a, as_b=as_b, n_open=n_open)


def mirrored(replies):
    """The same calls with first and second exchanged: sides too, for the screen stays."""
    as_b, as_a = (
        Order(one.n_calls, one.n_second, one.n_first, -one.total)
        for one in (replies.first_as_a, replies.first_as_b)
    )
    return Replies(as_a, as_b, replies.n_open)


def vote(winner, *, is_consistent=None):
    return JudgeVerdict(VoteStatus.DECIDED, winner, is_consistent)


def named(votes):
    return {f"judge-{n}": one for n, one in enumerate(votes)}


FIRST, SECOND = vote(Winner.FIRST), vote(Winner.SECOND)
SILENT = JudgeVerdict(VoteStatus.UNSETTLED, None, is_consistent=False)
WAITING = JudgeVerdict(VoteStatus.WAITING)
CONTRARY: dict[str, Any] = {"FIRST": "SECOND", "SECOND": "FIRST"}
"""Of a winner, and of an outcome; without a winner either stays as it is."""


class TestVerdictOfAJudge:
    @pytest.mark.parametrize(
        ("replies", "expected"),
        [
            (said(as_a=[3]), vote(Winner.FIRST)),
            (said(as_b=[-1]), vote(Winner.SECOND)),
            (said(as_a=[4, 4, None], n_open=1), WAITING),
            (said(as_a=[3], as_b=[1]), vote(Winner.FIRST, is_consistent=True)),
            (said(as_a=[3], as_b=[-1]), SILENT),
            (said(as_a=[3], as_b=[None]), JudgeVerdict(VoteStatus.ONE_ORDER)),
            (said(as_a=[None], as_b=[None]), JudgeVerdict(VoteStatus.NO_ANSWER)),
            (said(as_a=[2, 1, -5]), vote(Winner.FIRST)),
            (said(as_a=[2, None, 1]), vote(Winner.FIRST)),
            (said(as_a=[2, -1]), JudgeVerdict(VoteStatus.TIED)),
            (said(as_a=[2, -1], as_b=[3, 3]), JudgeVerdict(VoteStatus.TIED)),
            (said(as_a=[2, 2, -1], as_b=[1, 1, -5]), vote(Winner.FIRST, is_consistent=True)),
        ],
    )
    def test_is_the_winner_of_the_samples_in_every_order_asked(self, replies, expected):
        assert judge_verdict(replies) == expected

    @given(calls())
    def test_is_mirrored_when_first_and_second_are_exchanged(self, replies):
        verdict, mirror = judge_verdict(replies), judge_verdict(mirrored(replies))

        assert mirror == replace(verdict, winner=CONTRARY.get(verdict.winner))

    @given(calls())
    def test_names_a_winner_if_decided_and_never_where_the_orders_disagree(self, replies):
        verdict = judge_verdict(replies)

        assert (verdict.winner is not None) == (verdict.status is VoteStatus.DECIDED)
        assert verdict.is_consistent is not False or verdict.winner is None

    @pytest.mark.parametrize(
        ("replies", "reason"),
        [
            (Replies(), "asked nothing"),
            (Replies(first_as_a=Order(1, 1, 1, 0)), "more answers"),
            (Replies(first_as_a=Order(1, 1, 0, 2), n_open=1), "more answers"),
            (Replies(first_as_a=Order(2, 2, -1, 2)), "more answers"),
            (Replies(first_as_a=Order(1), n_open=-1), "more answers"),
        ],
    )
    def test_of_impossible_counts_is_refused(self, replies, reason):
        with pytest.raises(ImpossibleRepliesError, match=reason):
            judge_verdict(replies)


class TestVerdictOfTheEnsemble:
    @pytest.mark.parametrize(
        ("votes", "outcome"),
        [
            ([FIRST], EnsembleOutcome.FIRST),
            ([FIRST, FIRST, SECOND], EnsembleOutcome.FIRST),
            ([SECOND, SILENT, SECOND], EnsembleOutcome.SECOND),
            ([SECOND, SILENT, SILENT], EnsembleOutcome.SECOND),
            ([FIRST, SECOND], EnsembleOutcome.NO_MAJORITY),
            ([FIRST, SECOND, FIRST, SECOND], EnsembleOutcome.NO_MAJORITY),
            ([FIRST, SECOND, SILENT], EnsembleOutcome.NO_MAJORITY),
            ([SILENT, SILENT], EnsembleOutcome.NO_MAJORITY),
            ([FIRST, FIRST, WAITING], EnsembleOutcome.WAITING),
        ],
    )
    def test_is_what_most_votes_name(self, votes, outcome):
        assert ensemble_verdict(named(votes)).outcome == outcome

    def test_counts_votes_and_those_without_one(self):
        found = ensemble_verdict(named([FIRST, SECOND, FIRST, SILENT]))

        assert found == EnsembleVerdict(EnsembleOutcome.FIRST, 2, 1, 4, is_consistent=False)
        assert found.n_silent == 1

    @pytest.mark.parametrize(
        ("known", "expected"),
        [([None], None), ([True, None], True), ([True, False], False)],
    )
    def test_is_consistent_if_all_are_of_whom_it_is_known(self, known, expected):
        votes = [vote(Winner.FIRST, is_consistent=one) for one in known]

        assert ensemble_verdict(named(votes)).is_consistent is expected

    @given(st.lists(calls(), min_size=1, max_size=5), st.randoms(use_true_random=False))
    def test_does_not_depend_on_who_the_judges_are(self, panel, random):
        verdicts = [judge_verdict(one) for one in panel]
        relabelled = list(verdicts)
        random.shuffle(relabelled)

        assert ensemble_verdict(named(relabelled)) == ensemble_verdict(named(verdicts))

    @given(st.lists(calls(), min_size=1, max_size=5))
    def test_is_mirrored_when_first_and_second_are_exchanged(self, panel):
        found, mirror = (
            ensemble_verdict(named([judge_verdict(one) for one in judges]))
            for judges in (panel, map(mirrored, panel))
        )

        assert mirror.outcome == CONTRARY.get(found.outcome, found.outcome)
        assert (mirror.n_first, mirror.n_second) == (found.n_second, found.n_first)
        assert (mirror.n_judges, mirror.is_consistent) == (found.n_judges, found.is_consistent)

    def test_of_no_judge_is_refused(self):
        with pytest.raises(ImpossibleRepliesError, match="no judge"):
            ensemble_verdict({})


def position_of(*panel):
    found = Position()
    for replies in panel:
        found.add(replies)
    return found


class TestPosition:
    def test_counts_who_won_in_both_orders(self):
        found = position_of(
            said(as_a=[3], as_b=[2]),
            said(as_a=[-1], as_b=[-1]),
            said(as_a=[2], as_b=[-4]),  # side A twice
            said(as_a=[-1], as_b=[1]),  # side B twice
            said(as_a=[5], as_b=[-5]),
        )

        assert (found.n_same, found.n_a_twice, found.n_b_twice) == (2, 2, 1)
        assert (found.n_compared, found.share) == (5, 0.4)
        assert (found.n_chose_a, found.n_answers) == (6, 10)

    def test_tells_how_far_strengths_are_apart_and_what_side_a_adds(self):
        found = position_of(said(as_a=[3], as_b=[1]), said(as_a=[-4], as_b=[-2, -4]))

        assert found.mean_gap == pytest.approx((2 + 1) / 2)
        assert found.mean_shift == pytest.approx((1 - 0.5) / 2)

    def test_leaves_out_what_has_no_winner_in_some_order(self):
        found = position_of(said(as_a=[3]), said(as_a=[3, -3], as_b=[1]), said(as_a=[1, None]))

        assert found.n_compared == 0
        assert (found.share, found.interval, found.p, found.mean_gap) == (None,) * 4
        assert found.share_a == pytest.approx(3 / 5)

    def test_says_nothing_of_a_judge_without_answers(self):
        found = position_of(said(as_a=[None], as_b=[None]))

        assert (found.share_a, found.mean_shift) == (None, None)

    @pytest.mark.parametrize(("same", "a", "b"), [(7, 2, 1), (0, 3, 0), (40, 0, 0)])
    def test_agrees_with_scipy_on_interval_and_test(self, same, a, b):
        found = Position(n_same=same, n_a_twice=a, n_b_twice=b)

        expected = scipy.stats.binomtest(same, same + a + b).proportion_ci(method="wilson")
        assert found.interval == pytest.approx(tuple(expected))
        assert found.p == (pytest.approx(scipy.stats.binomtest(a, a + b).pvalue) if a + b else None)

    @given(st.lists(calls(), max_size=6))
    def test_is_the_same_when_first_and_second_are_exchanged(self, panel):
        assert position_of(*map(mirrored, panel)) == position_of(*panel)


KINDS = ["", *FAILURES, "invalid_answer", "lost", "erased", "status_418"]
STORABLE = [
    (state, kind)
    for state, kind in product(CallState.values, KINDS)
    if kind or state not in {CallState.INVALID, CallState.FAILED}
]


class TestAccount:
    """Every call to a judge has one fate, whatever its state and its error."""

    def test_knows_every_state_of_a_call(self):
        assert {*NOT_FAILED, "FAILED"} == set(CallState.values)

    @given(st.lists(st.tuples(st.sampled_from(STORABLE), st.integers(0, 60_000))))
    def test_has_fates_that_sum_to_the_calls(self, rows):
        found = account((state, kind, n) for (state, kind), n in rows)

        assert sum(found.n(one) for one in Fate) == sum(n for _, n in rows) == found.n_calls
        assert sum(found.others.values()) == found.n(Fate.OTHER)

    @pytest.mark.parametrize(
        ("state", "kind", "expected"),
        [
            ("DONE", "", Fate.VALID),
            ("INVALID", "invalid_answer", Fate.INVALID),
            ("FAILED", "content_filtered", Fate.REFUSED),
            ("FAILED", "refused", Fate.REFUSED),
            ("FAILED", "truncated", Fate.TRUNCATED),
            ("FAILED", "empty", Fate.EMPTY),
            ("FAILED", "only_thoughts", Fate.EMPTY),
            ("FAILED", "timeout", Fate.TIMED_OUT),
            ("FAILED", "server_error", Fate.OTHER),
            ("PENDING", "rate_limited", Fate.WAITING),
            ("PENDING", "timeout", Fate.WAITING),
            ("CLAIMED", "", Fate.IN_FLIGHT),
        ],
    )
    def test_goes_by_the_state_and_the_error(self, state, kind, expected):
        assert fate(state, kind) is expected

    @pytest.mark.parametrize(("state", "kind"), [("FAILED", ""), ("LATER", "timeout"), ("", "")])
    def test_refuses_what_cannot_be_accounted_for(self, state, kind):
        with pytest.raises(UnknownCallError, match="cannot be accounted for"):
            fate(state, kind)
