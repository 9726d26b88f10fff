"""Weighted means of ratings on several scales, and their numbers as text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ranking.numerics.composites import (
    JointRatings,
    composite,
    normalised,
    packed,
    sensitivity,
    unpacked,
)
from ranking.numerics.intervals import percentile_intervals

ESTIMATE = np.array([[1600.0, 1500.0, 1400.0], [1400.0, 1500.0, 1600.0]])
NAN = np.nan


def joint(estimate=ESTIMATE, replicates=None, n_units=(30, 40)):
    replicates = np.stack([estimate, estimate + 1.0]) if replicates is None else replicates
    return JointRatings(estimate, replicates, np.array(n_units))


class TestNormalised:
    @given(st.lists(st.floats(0.0, 1e300), min_size=1, max_size=8).filter(any))
    def test_adds_up_to_one_and_keeps_the_ratios(self, weights):
        shares = normalised(np.array(weights))

        assert shares.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(
            shares / shares.max(), np.array(weights) / max(weights), atol=1e-12
        )

    @pytest.mark.parametrize("weights", [[0.0, 0.0], [1.0, -1.0], [NAN, 1.0], [np.inf, 1.0], []])
    def test_refuses_what_are_no_weights(self, weights):
        with pytest.raises(ValueError, match="weights must be finite"):
            normalised(np.array(weights))


class TestComposite:
    def test_an_example_by_hand(self):
        found = composite(joint(), np.array([3.0, 1.0]))

        # 3/4 of 1600 and 1/4 of 1400, and so on
        assert found.estimate.tolist() == [1550.0, 1500.0, 1450.0]
        assert found.replicates.tolist() == [[1550.0, 1500.0, 1450.0], [1551.0, 1501.0, 1451.0]]
        assert found.n_units == 30

    def test_one_scale_alone_is_that_scale(self):
        found = composite(joint(), np.array([0.0, 2.0]))

        assert found.estimate.tolist() == ESTIMATE[1].tolist()
        assert found.n_units == 40

    def test_replicates_without_a_maximum_on_a_scale_that_counts_are_left_out(self):
        replicates = np.stack([ESTIMATE] * 3)
        replicates[1, 0] = NAN

        both, second = (
            composite(joint(replicates=replicates), np.array(w)) for w in ([1, 1], [0, 1])
        )

        assert (len(both.replicates), both.n_without_maximum) == (2, 1)
        assert (len(second.replicates), second.n_without_maximum) == (3, 0)

    def test_weights_for_another_number_of_scales_are_refused(self):
        with pytest.raises(ValueError, match="2 weights are needed"):
            composite(joint(), np.ones(3))

    def test_shapes_that_do_not_fit_are_refused(self):
        with pytest.raises(ValueError, match="replicates of shape"):
            joint(replicates=np.ones((2, 3, 3)))
        with pytest.raises(ValueError, match="replicates of shape"):
            joint(n_units=(30,))


class TestCoverage:
    def test_intervals_of_the_composite_hold_as_often_as_they_say(self):
        """600 seeded studies of 80 dialogues, in which two scales are correlated by 0.7."""
        rng = np.random.default_rng(11)
        weights, truth, held = np.array([0.3, 0.7]), np.array([5.0, -3.0]), 0
        mixing = np.linalg.cholesky(np.array([[1.0, 0.7], [0.7, 1.0]]))
        for _ in range(600):
            dialogues = truth + 20.0 * rng.normal(size=(80, 2)) @ mixing.T
            times = rng.multinomial(80, np.full(80, 1 / 80), size=400) / 80.0
            replicates = (times @ dialogues)[:, :, None]
            found = composite(joint(dialogues.mean(axis=0)[:, None], replicates, (80, 80)), weights)
            ends = percentile_intervals(found.replicates)
            held += ends.low[0] <= weights @ truth <= ends.high[0]

        # 95 %, a point less for 80 dialogues; the standard error of 600 is 0.9 points
        assert 0.92 <= held / 600 <= 0.97


class TestSensitivity:
    def test_two_scales_in_opposite_order_share_the_first_place(self, rng):
        found = sensitivity(joint(), n_draws=20_000, rng=rng)

        # Whoever weighs a scale by more than a half has its leader: half of all weights.
        np.testing.assert_allclose(found.first, [0.5, 0.0, 0.5], atol=0.015)
        assert found.best.tolist() == [1, 2, 1]
        assert found.worst.tolist() == [3, 2, 3]

    def test_a_known_share_of_the_simplex(self, rng):
        estimate = np.array([[10.0, 0.0], [0.0, 4.0], [0.0, 4.0]])
        found = sensitivity(joint(estimate, n_units=(9, 9, 9)), n_draws=20_000, rng=rng)

        # 10 w > 4 (1 - w), w > 2/7; of three uniform weights one exceeds x by (1 - x)^2
        assert found.first[0] == pytest.approx((5 / 7) ** 2, abs=0.015)

    @pytest.mark.parametrize(
        ("estimate", "first"),
        [
            (np.array([[3.0, 1.0, 2.0], [5.0, 4.0, 0.0]]), [1, 0, 0]),
            (np.zeros((2, 4)), [0.25] * 4),
        ],
        ids=["one that leads everywhere", "equal systems share"],
    )
    def test_is_sure_of_what_no_weight_changes(self, rng, estimate, first):
        found = sensitivity(joint(estimate), n_draws=100, rng=rng)

        assert found.first.tolist() == first

    def test_other_dialogues_may_put_another_first(self, rng):
        replicates = np.stack([ESTIMATE, ESTIMATE[:, ::-1] + np.array([[0, 0, 500.0]])])

        found = sensitivity(joint(replicates=replicates), n_draws=4_000, rng=rng)

        assert found.first_resampled[2] == pytest.approx(0.75, abs=0.02)
        assert found.first_resampled.sum() == pytest.approx(1.0)

    def test_without_a_whole_replicate_there_is_nothing_to_say(self, rng):
        with pytest.raises(ValueError, match="cannot set 5 draws"):
            sensitivity(joint(replicates=np.full((2, 2, 3), NAN)), n_draws=5, rng=rng)
        with pytest.raises(ValueError, match="cannot set 0 draws"):
            sensitivity(joint(), n_draws=0, rng=rng)


NUMBERS = arrays.arrays(
    np.float64,
    arrays.array_shapes(min_dims=1, max_dims=3, max_side=5),
    elements=st.floats(-1e5, 1e5) | st.just(np.nan),
)


class TestPacking:
    @given(NUMBERS)
    def test_gives_back_numbers_to_half_a_step_and_what_is_none(self, numbers):
        text, step = packed(numbers)

        again = unpacked(text, step, numbers.shape)

        np.testing.assert_array_equal(np.isnan(again), np.isnan(numbers))
        reach = np.nanmax(np.abs(numbers), initial=0.0)
        np.testing.assert_allclose(again, numbers, atol=reach / 65_534 * 1.001 + 1e-300)

    def test_takes_two_bytes_for_a_number(self):
        text, _ = packed(np.ones(300))

        assert len(text) == 300 * 2 * 4 / 3

    def test_the_largest_is_exact_and_noughts_stay_noughts(self):
        text, step = packed(np.array([-655.34, 0.0, 10.0]))

        assert unpacked(text, step, (3,))[0] == pytest.approx(-655.34, rel=1e-12)
        assert step == pytest.approx(0.02)
        assert unpacked(*packed(np.zeros(2)), (2,)).tolist() == [0.0, 0.0]

    @pytest.mark.parametrize(
        ("numbers", "message"),
        [([1.0, np.inf], "infinite"), ([1.0, 1.0, 1.0, 1.0], "reshape")],
        ids=["infinite", "another shape"],
    )
    def test_what_does_not_fit_is_refused(self, numbers, message):
        with pytest.raises(ValueError, match=message):
            unpacked(*packed(np.array(numbers)), (3,))
