"""Scores on raters' own scales: by hand, a peer, properties, and what is too little."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.rater_scales import FEWEST, PRIOR, NoSpreadError, from_the_others, normalise
from tests.ranking.numerics import peers


@pytest.fixture
def scored(rng):
    """Scores of 12 raters, some strict, some sparing, with 3 to 20 scores each."""
    rater = np.repeat(np.arange(12), rng.integers(3, 21, 12))
    centre, spread = rng.normal(3, 0.5, 12), rng.uniform(0.2, 1.5, 12)
    return centre[rater] + spread[rater] * rng.normal(size=len(rater)), rater


class TestNormalise:
    def test_by_hand(self):
        scores = np.array([1.0, 2.0, 3.0, 4.0, 4.0, 4.0])

        found = normalise(scores, np.array([0, 0, 0, 1, 1, 1]), n_raters=2)

        # Squares about the own mean: 2 and 0, with 4 degrees of freedom: v = 1/2.
        varied, still = np.sqrt([(2 + 5 * 0.5) / 7, (0 + 5 * 0.5) / 7])
        assert found.spread == pytest.approx([varied, still])
        assert found.z == pytest.approx([-1 / varied, 0, 1 / varied, 0, 0, 0])

    def test_agrees_with_pandas(self, scored):
        scores, rater = scored

        found = normalise(scores, rater, n_raters=12)

        by_rater = peers.Series(scores).groupby(rater)
        n, own = by_rater.transform("count"), by_rater.transform("var")
        pooled = (by_rater.var() * (by_rater.count() - 1)).sum() / (by_rater.count() - 1).sum()
        spread = np.sqrt(((n - 1) * own + PRIOR * pooled) / (n - 1 + PRIOR))
        peer = np.asarray((scores - by_rater.transform("mean")) / spread)
        assert found.z == pytest.approx(peer, abs=1e-12)
        assert found.n.tolist() == by_rater.count().tolist()

    @given(shift=st.floats(-50, 50), who=st.integers(0, 11))
    def test_who_adds_a_constant_changes_nothing(self, shift, who):
        rng = np.random.default_rng(5)
        rater = np.repeat(np.arange(12), 6)
        scores = rng.integers(1, 6, 72).astype(float)

        moved = normalise(scores + shift * (rater == who), rater, n_raters=12)

        assert moved.z == pytest.approx(normalise(scores, rater, n_raters=12).z, abs=1e-9)

    def test_names_of_raters_and_the_size_of_points_do_not_matter(self, scored, rng):
        scores, rater = scored
        names = rng.permutation(12)

        found = normalise(10 * scores - 4, names[rater], n_raters=12)

        assert found.z == pytest.approx(normalise(scores, rater, n_raters=12).z)

    def test_who_gave_too_few_is_left_out(self):
        scores = np.array([1.0, 2.0, 3.0, 2.0, 4.0])

        found = normalise(scores, np.array([0, 0, 0, 1, 1]), n_raters=3)

        assert found.is_kept.tolist() == [True, False, False]
        assert found.z == pytest.approx([-1, 0, 1, np.nan, np.nan], nan_ok=True)
        assert FEWEST == 3

    @pytest.mark.parametrize(
        ("scores", "rater", "error", "message"),
        [
            ([], [], NoSpreadError, "no rater gave"),
            ([1, 5], [0, 1], NoSpreadError, "no rater gave"),
            ([3] * 8, [0, 0, 0, 0, 1, 1, 1, 1], NoSpreadError, "the same score"),
            ([1, np.nan], [0, 0], ValueError, "finite"),
            ([1, 1], [0, 0, 0], ValueError, "finite"),
        ],
        ids=["nobody", "too few", "all the same", "nan", "two lengths"],
    )
    def test_refuses_what_has_no_scale(self, scores, rater, error, message):
        with pytest.raises(error, match=message):
            normalise(np.array(scores, dtype=float), np.array(rater, dtype=np.int64), n_raters=2)


class TestFromTheOthers:
    def test_by_hand(self):
        found = from_the_others(np.array([5.0, 3.0, 1.0, 4.0]), np.array([0, 0, 0, 1]))

        assert found[:3] == pytest.approx([3, 0, -3])
        assert np.isnan(found[3])
