"""Two coders who say whether something is there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.agreement.two_coders import ac1, drawn_kappas, pabak, tables_by_unit
from tests.ranking.numerics import peers

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
