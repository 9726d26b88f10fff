"""Evaluators two by two, against the majority, against their own eyes, and two coders."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.agreement.coefficients import (
    ac1,
    agreement_of_tables,
    cohen_kappas,
    cross_tabulate,
    drawn_kappas,
    pabak,
    tables_by_unit,
)
from ranking.numerics.agreement.majority import NO_MAJORITY, majorities, match, two_sided_p
from tests.ranking.numerics import peers
from tests.ranking.numerics.helpers import TWO_RATERS


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

    def test_the_interval_of_a_share_near_one_is_that_of_wilson(self, rng):
        alike = np.array([1] * 57 + [0] * 3)

        found = match(alike, np.arange(60), n_replicates=4_000, rng=rng)

        ends = peers.proportion_confint(57, 60, method="wilson")
        # Percentiles end at 0.88 and 1.0.
        assert (found.low, found.high) == pytest.approx(ends, abs=5e-3)

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


EVEN = np.array([[40, 10], [5, 45]])
RARE = np.array([[95, 2], [3, 0]])


def said(table):
    """Return what two coders said, text by text, of whom that is the table."""
    pairs = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], table.ravel(), axis=0).astype(bool)
    return pairs[:, 0], pairs[:, 1]


class TestByHand:
    """EVEN: alike 0.85; by chance 0.5 x 0.45 + 0.5 x 0.55. RARE: alike 0.95, chance 0.9512."""

    @pytest.mark.parametrize(
        ("table", "kappa", "adjusted", "steady"),
        [
            (EVEN, 0.7, 0.7, (0.85 - 0.49875) / 0.50125),
            (RARE, (0.95 - 0.9512) / 0.0488, 0.9, (0.95 - 0.04875) / 0.95125),
            (np.array([[3, 0], [0, 5]]), 1.0, 1.0, 1.0),
            (np.array([[0, 4], [4, 0]]), -1.0, -1.0, -1.0),
        ],
        ids=["even", "rare", "alike", "never alike"],
    )
    def test_the_coefficients_come_out(self, table, kappa, adjusted, steady):
        whole = np.ones((1, 1))

        assert drawn_kappas(table[None], whole)[0] == pytest.approx(kappa)
        assert pabak(table) == pytest.approx(adjusted)
        assert ac1(table) == pytest.approx(steady)

    def test_a_kappa_is_missing_where_both_find_it_nowhere(self):
        nowhere = np.array([[7, 0], [0, 0]])

        assert np.isnan(drawn_kappas(nowhere[None], np.ones((1, 1)))[0])
        assert (pabak(nowhere), ac1(nowhere)) == (1.0, 1.0)


class TestUnits:
    def test_are_counted_apart(self):
        one, other = said(np.array([[1, 0], [1, 2]]))

        tables = tables_by_unit(one, other, np.array([0, 1, 0, 1]), n_units=3)

        assert tables.tolist() == [[[1, 0], [0, 1]], [[0, 0], [1, 1]], [[0, 0], [0, 0]]]

    @given(seed=st.integers(0, 1_000))
    def test_drawn_twice_count_twice(self, seed):
        """A sample's kappa is that of its texts written out; the peer counts them one by one."""
        rng = np.random.default_rng(seed)
        one, other, unit = rng.random(60) < 0.4, rng.random(60) < 0.5, rng.integers(0, 6, 60)
        times = rng.multinomial(6, np.full(6, 1 / 6), size=5)

        found = drawn_kappas(tables_by_unit(one, other, unit, n_units=6), times.astype(float))

        for kappa, sample in zip(found, times, strict=True):
            texts = np.repeat(np.arange(60), sample[unit])
            if np.isfinite(kappa):
                peer = peers.cohen_kappa_score(one[texts], other[texts], labels=[False, True])
                assert kappa == pytest.approx(peer, abs=1e-9)
