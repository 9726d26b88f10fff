"""Adjusted p-values against published examples, SciPy and statsmodels."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.multiplicity import benjamini_hochberg, holm
from tests.ranking.numerics import peers

# Fifteen tests of a treatment after a heart attack: Benjamini & Hochberg (1995), section 3.2.
# At 0.05 they reject the four smallest where Bonferroni and Hochberg reject three.
PUBLISHED = np.array(
    [
        *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240),
        *(0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
    ]
)


def with_ties(n, rng):
    """Draw p-values, the smaller the more, some of them equal, 0 or 1."""
    return np.round(rng.random(n) ** 3, 2)


class TestPublished:
    def test_the_share_of_false_rejections_lets_four_pass(self):
        assert (benjamini_hochberg(PUBLISHED) <= 0.05).sum() == 4

    def test_the_chance_of_any_lets_three_pass(self):
        assert (holm(PUBLISHED) <= 0.05).sum() == 3


@pytest.mark.parametrize("n", [1, 2, 7, 190])
class TestPeers:
    def test_agree_with_scipy(self, n, rng):
        p = with_ties(n, rng)

        peer = scipy.stats.false_discovery_control(p, method="bh")
        np.testing.assert_allclose(benjamini_hochberg(p), peer, rtol=1e-12)

    def test_agree_with_statsmodels(self, n, rng):
        p = with_ties(n, rng)

        ours = [adjust(p) for adjust in (holm, benjamini_hochberg)]

        peer = [peers.multipletests(p, method=name)[1] for name in ("holm", "fdr_bh")]
        np.testing.assert_allclose(ours, peer, rtol=1e-12)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
class TestAdjusting:
    @given(st.permutations(range(5)))
    def test_the_order_of_tests_does_not_matter(self, adjust, order):
        p = np.array([0.001, 0.2, 0.03, 0.03, 0.9])

        np.testing.assert_array_equal(adjust(p[order]), adjust(p)[order])

    def test_a_single_test_stays_as_it_is(self, adjust):
        assert adjust(np.array([0.031])).tolist() == [0.031]

    def test_no_tests_give_no_values(self, adjust):
        assert adjust(np.array([])).tolist() == []

    @pytest.mark.parametrize("values", [[0.5, 1.1], [-0.1], [np.nan], [[0.1]]])
    def test_refuses_what_is_no_probability(self, adjust, values):
        with pytest.raises(ValueError, match="between 0 and 1"):
            adjust(np.array(values))
