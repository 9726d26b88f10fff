"""Coefficients by sums over units, one against the others, and independent judges."""

from functools import partial

import numpy as np
import pytest

from ranking.numerics.agreement.coefficients import Metric, fleiss_kappa, krippendorff_alpha
from ranking.numerics.agreement.effective import effective_number, mean_correlation
from ranking.numerics.agreement.majority import NO_MAJORITY, majority_of_others, split_majorities
from ranking.numerics.agreement.resampled import (
    alphas,
    draw_times,
    estimated,
    fleiss_kappas,
    raw_agreement,
    tally,
)

VALUES = np.array([-1.0, 0.0, 1.0])


@pytest.fixture
def counts(rng):
    return rng.integers(0, 4, size=(60, 3))


@pytest.fixture
def unit():
    return np.repeat(np.arange(20), 3)


class TestSums:
    @pytest.mark.parametrize("metric", list(Metric))
    def test_of_a_sample_give_alpha_of_the_items_drawn(self, rng, counts, unit, metric):
        times = draw_times(20, 5, rng)

        found = alphas(tally(counts, unit, n_units=20), times, VALUES, metric)

        for row, alpha in zip(times.astype(int), found, strict=True):
            drawn = np.repeat(counts, row[unit], axis=0)
            assert alpha == pytest.approx(krippendorff_alpha(drawn, VALUES, metric), abs=1e-10)

    def test_give_fleiss_kappa_where_numbers_are_equal(self, rng, unit):
        counts = rng.multinomial(5, [0.5, 0.2, 0.3], size=60)

        found = fleiss_kappas(tally(counts, unit, n_units=20), np.ones((1, 20)))

        assert found[0] == pytest.approx(fleiss_kappa(counts), abs=1e-12)

    def test_do_not_tell_agreement_where_nothing_was_judged_twice(self):
        tallies = tally(np.eye(3, dtype=int), np.arange(3), n_units=3)

        assert np.isnan(raw_agreement(tallies, np.ones((1, 3)))).all()
        assert np.isnan(alphas(tallies, np.ones((1, 3)), VALUES, Metric.NOMINAL)).all()


class TestEstimate:
    def test_holds_the_figure_of_all_units_inside_its_interval(self, rng, counts, unit):
        raw = partial(raw_agreement, tally(counts, unit, n_units=20))

        found = estimated(raw, 20, draw_times(20, 200, rng), level=0.95)

        assert found.low < found.value < found.high

    def test_has_no_interval_for_one_unit(self, rng, counts):
        raw = partial(raw_agreement, tally(counts, np.zeros(60, dtype=int), n_units=1))

        found = estimated(raw, 1, draw_times(1, 50, rng), level=0.95)

        assert np.isfinite(found.value)
        assert np.isnan(found.low)


class TestOthers:
    def test_majority_leaves_out_the_one_who_is_held_against_it(self):
        item, value = np.zeros(3, dtype=int), np.array([0, 0, 2])

        found = majority_of_others(item, value, n_items=1, n_values=3)

        assert found.tolist() == [NO_MAJORITY, NO_MAJORITY, 0]

    def test_some_and_the_rest_share_nobody(self, rng):
        item = np.repeat(np.arange(30), 2)
        value = np.tile([0, 2], 30)

        some, rest = split_majorities(item, value, n_taken=1, n_items=30, n_values=3, rng=rng)

        assert (some + rest == 2).all()
        assert set(some.tolist()) == {0, 2}

    def test_items_with_too_few_have_no_majority(self, rng):
        found = split_majorities(
            np.array([0]), np.array([1]), n_taken=2, n_items=2, n_values=3, rng=rng
        )

        assert np.stack(found).tolist() == [[NO_MAJORITY] * 2] * 2


class TestIndependence:
    def test_correlation_is_that_of_numpy(self, rng):
        errors = rng.random((80, 3)) + rng.random((80, 1))
        expected = np.corrcoef(errors.T)[np.triu_indices(3, 1)].mean()

        found = mean_correlation(errors, np.arange(80) // 4, n_units=20)(np.ones((1, 20)))

        assert found[0] == pytest.approx(expected, abs=1e-10)

    def test_copies_of_one_judge_are_worth_one(self, rng):
        errors = np.tile(rng.integers(0, 2, (50, 1)).astype(float), 4)

        rho = mean_correlation(errors, np.arange(50), n_units=50)(np.ones((1, 50)))

        assert effective_number(4, rho) == pytest.approx(1.0)

    @pytest.mark.parametrize("rho", [0.0, -0.3])
    def test_judges_without_common_errors_are_worth_all(self, rho):
        assert effective_number(5, np.array([rho]))[0] == 5.0

    def test_is_not_known_where_nobody_errs(self):
        rho = mean_correlation(np.zeros((9, 2)), np.arange(9), n_units=9)(np.ones((1, 9)))

        assert np.isnan(rho).all()
