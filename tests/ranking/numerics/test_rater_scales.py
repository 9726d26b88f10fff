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
        assert found.pooled == pytest.approx(np.sqrt(0.5))
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

    def test_names_of_raters_do_not_matter(self, scored, rng):
        scores, rater = scored
        names = rng.permutation(12)

        found = normalise(scores, names[rater], n_raters=12)

        assert found.z == pytest.approx(normalise(scores, rater, n_raters=12).z)

    def test_points_of_another_size_give_the_same(self, scored):
        scores, rater = scored

        assert normalise(10 * scores - 4, rater, n_raters=12).z == pytest.approx(
            normalise(scores, rater, n_raters=12).z
        )

    def test_many_scores_lean_on_nobody(self, rng):
        rater = np.repeat([0, 1], 20_000)
        scores = rng.normal(size=40_000) * np.where(rater == 0, 0.2, 2.0)

        spread = normalise(scores, rater, n_raters=2).spread

        assert spread == pytest.approx([0.2, 2.0], rel=0.03)

    def test_who_gave_too_few_is_left_out(self):
        scores = np.array([1.0, 3.0, 5.0, 2.0, 4.0])

        found = normalise(scores, np.array([0, 0, 0, 1, 1]), n_raters=3)

        assert found.is_kept.tolist() == [True, False, False]
        assert np.isnan(found.z[3:]).all()
        assert FEWEST == 3

    def test_one_rater_has_a_scale_too(self):
        found = normalise(np.array([1.0, 2.0, 3.0]), np.zeros(3, dtype=np.int64), n_raters=1)

        assert found.z == pytest.approx([-1, 0, 1])

    def test_refuses_what_has_no_scale(self):
        nobody = np.zeros(0, dtype=np.int64)
        with pytest.raises(NoSpreadError, match="no rater gave"):
            normalise(np.zeros(0), nobody, n_raters=0)
        with pytest.raises(NoSpreadError, match="no rater gave"):
            normalise(np.array([1.0, 5.0]), np.array([0, 1]), n_raters=2)
        with pytest.raises(NoSpreadError, match="the same score"):
            normalise(np.full(8, 3.0), np.repeat([0, 1], 4), n_raters=2)

    def test_refuses_what_is_no_score(self):
        with pytest.raises(ValueError, match="finite"):
            normalise(np.array([1.0, np.nan]), np.array([0, 0]), n_raters=1)
        with pytest.raises(ValueError, match="finite"):
            normalise(np.ones(2), np.zeros(3, dtype=np.int64), n_raters=1)


class TestFromTheOthers:
    def test_by_hand(self):
        found = from_the_others(np.array([5.0, 3.0, 1.0, 4.0]), np.array([0, 0, 0, 1]))

        assert found[:3] == pytest.approx([3, 0, -3])
        assert np.isnan(found[3])

    def test_finds_who_is_mild(self, rng):
        """Planted: raters lie -1, 0 and 1 from the truth; each is held against the other two."""
        message = np.repeat(np.arange(4000), 3)
        mildness = np.tile([-1.0, 0.0, 1.0], 4000)
        scores = rng.normal(size=4000)[message] + mildness + rng.normal(size=12_000)

        found = from_the_others(scores, message).reshape(-1, 3).mean(axis=0)

        assert found == pytest.approx([-1.5, 0, 1.5], abs=0.08)
