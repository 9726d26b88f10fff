"""Evaluators two by two, against the majority, and against their own eyes."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.agreement.coefficients import (
    agreement_of_tables,
    cohen_kappas,
    cross_tabulate,
)
from ranking.numerics.agreement.majority import NO_MAJORITY, majorities, match
from ranking.numerics.agreement.position import two_sided_p
from tests.ranking.numerics import peers
from tests.ranking.numerics.agreement.published import TWO_RATERS


class TestCohen:
    def test_the_published_example_comes_out(self):
        assert round(float(cohen_kappas(TWO_RATERS[None])[0]), 3) == 0.492
        assert float(agreement_of_tables(TWO_RATERS[None])[0]) == pytest.approx(0.70)

    @given(seed=st.integers(0, 1_000))
    def test_the_peers_agree_for_every_two_evaluators(self, seed):
        rng = np.random.default_rng(seed)
        said = rng.integers(0, 3, size=(4, 25))
        there = rng.random((4, 25)) < 0.7
        evaluator, item = np.nonzero(there)

        pairs = cross_tabulate(item, evaluator, said[there], n_values=3)

        for one, other, table in zip(pairs.one, pairs.other, pairs.tables, strict=True):
            both = there[one] & there[other]
            assert table.sum() == both.sum()
            kappa = float(cohen_kappas(table[None])[0])
            if np.isfinite(kappa):
                peer = peers.cohen_kappa_score(said[one, both], said[other, both], labels=[0, 1, 2])
                assert kappa == pytest.approx(peer, abs=1e-6)
                assert kappa == pytest.approx(
                    peers.cohens_kappa(table, return_results=False), abs=1e-6
                )

    def test_nobody_is_set_beside_himself_nor_beside_strangers(self):
        item = np.array([0, 0, 1, 2])
        evaluator = np.array([0, 2, 0, 1])

        pairs = cross_tabulate(item, evaluator, np.zeros(4, dtype=np.int64), n_values=3)

        assert (pairs.one.tolist(), pairs.other.tolist()) == ([0], [2])

    def test_an_evaluator_who_judges_an_item_twice_is_refused(self):
        twice = np.zeros(2, dtype=np.int64)

        with pytest.raises(ValueError, match="twice"):
            cross_tabulate(twice, twice, np.array([0, 1]), n_values=3)

    def test_one_answer_throughout_has_no_kappa(self):
        assert np.isnan(cohen_kappas(np.diag([5, 0, 0])[None])[0])

    def test_no_judgments_are_no_pairs(self):
        nothing = np.zeros(0, dtype=np.int64)

        assert len(cross_tabulate(nothing, nothing, nothing, n_values=3).tables) == 0


class TestMajority:
    def test_it_takes_more_than_any_other_value(self):
        counts = np.array([[3, 1, 2], [2, 2, 1], [0, 0, 0], [0, 0, 1], [1, 4, 0]])

        assert majorities(counts).tolist() == [0, NO_MAJORITY, NO_MAJORITY, 2, 1]

    def test_the_interval_knows_that_items_of_a_unit_hang_together(self, rng):
        unit = np.arange(100).repeat(20)
        alike = (rng.random(100) < 0.7).astype(np.int64).repeat(20)

        found = match(alike, unit, n_replicates=2_000, rng=rng)
        naive = match(alike, np.arange(2_000), n_replicates=2_000, rng=rng)

        error = np.sqrt(found.share * (1 - found.share) / 100)
        assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.1)
        assert found.high - found.low > 3 * (naive.high - naive.low)
        assert (found.n, found.share) == (naive.n, naive.share)

    def test_the_same_seed_gives_the_same_interval(self):
        alike, unit = np.array([1, 0, 1, 1]), np.array([0, 0, 4, 9])

        found = {
            match(alike, unit, n_replicates=50, rng=np.random.default_rng(7)) for _ in range(2)
        }

        assert len(found) == 1

    def test_one_unit_has_a_share_and_no_interval_and_nothing_has_neither(self, rng):
        one = match(np.array([1, 0]), np.array([3, 3]), n_replicates=9, rng=rng)
        nothing = match(np.zeros(0, int), np.zeros(0, int), n_replicates=9, rng=rng)

        assert one.share == 0.5
        assert np.isnan([one.low, one.high, nothing.share, nothing.low]).all()


class TestPosition:
    @pytest.mark.parametrize(("n_first", "n"), [(0, 1), (3, 4), (50, 100), (1_352, 1_945), (7, 7)])
    def test_the_peer_agrees(self, n_first, n):
        assert two_sided_p(n_first, n) == pytest.approx(
            scipy.stats.binomtest(n_first, n).pvalue, rel=1e-9
        )

    def test_no_judgments_tell_nothing(self):
        assert two_sided_p(0, 0) == 1.0

    def test_more_than_all_is_refused(self):
        with pytest.raises(ValueError, match="3 times of 2"):
            two_sided_p(3, 2)
