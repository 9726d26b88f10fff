"""Coefficients of agreement against published answers, peers, invariants, and by units."""

from functools import partial

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ranking.numerics.agreement.coefficients import (
    Metric,
    UnequalNumbersError,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    most_common_number,
)
from ranking.numerics.agreement.majority import NO_MAJORITY, majority_of_others, split_majorities
from ranking.numerics.agreement.opinions import count_values, observed_agreement
from ranking.numerics.agreement.resampled import (
    alphas,
    draw_times,
    effective_number,
    estimated,
    fleiss_kappas,
    mean_correlation,
    of_samples,
    ratio,
    raw_agreement,
    tally,
)
from ranking.numerics.few_units import expanded_intervals
from tests.ranking.numerics import peers
from tests.ranking.numerics.helpers import DIAGNOSES, OBSERVED

VALUES = np.array([-1.0, 0.0, 1.0])
tables = hnp.arrays(np.int64, (12, 3), elements=st.integers(0, 4))
full = st.lists(st.integers(0, 9), min_size=8, max_size=8).map(
    lambda seeds: np.stack(
        [np.random.default_rng(s).multinomial(5, [0.5, 0.2, 0.3]) for s in seeds]
    )
)


def observed():
    rater, item = np.nonzero(OBSERVED)
    return count_values(item, OBSERVED[rater, item] - 1, n_items=12, n_values=5)


def same(one, other):
    return one == pytest.approx(other, abs=1e-6, nan_ok=True)


class TestKrippendorff:
    @pytest.mark.parametrize(
        ("metric", "published"),
        [(Metric.NOMINAL, 0.743), (Metric.ORDINAL, 0.815), (Metric.INTERVAL, 0.849)],
    )
    def test_the_published_example_comes_out(self, metric, published):
        alpha = krippendorff_alpha(observed(), np.arange(1.0, 6.0), metric)

        assert round(alpha, 3) == published

    @pytest.mark.parametrize("metric", Metric)
    @given(counts=tables)
    def test_the_peer_agrees(self, metric, counts):
        alpha = krippendorff_alpha(counts, VALUES, metric)

        compared = counts[counts.sum(axis=1) > 1]
        if (compared.sum(axis=0) > 0).sum() > 1:
            assert same(
                alpha,
                krippendorff.alpha(
                    value_counts=compared, value_domain=VALUES, level_of_measurement=metric.value
                ),
            )
        else:
            assert np.isnan(alpha)

    @given(counts=tables)
    def test_turning_or_renaming_values_changes_nothing(self, counts):
        for metric in Metric:
            turned = krippendorff_alpha(counts[:, ::-1], VALUES, metric)
            assert same(krippendorff_alpha(counts, VALUES, metric), turned)
        renamed = krippendorff_alpha(counts[:, [1, 2, 0]], VALUES, Metric.NOMINAL)
        assert same(krippendorff_alpha(counts, VALUES, Metric.NOMINAL), renamed)

    def test_full_agreement_is_one_and_a_single_value_is_nothing(self):
        assert krippendorff_alpha(3 * np.eye(3, dtype=np.int64), VALUES, Metric.ORDINAL) == 1.0
        assert np.isnan(krippendorff_alpha(np.array([[3, 0, 0]] * 4), VALUES, Metric.NOMINAL))
        assert np.isnan(krippendorff_alpha(np.zeros((0, 3), int), VALUES, Metric.INTERVAL))

    def test_values_that_do_not_rise_are_refused(self):
        with pytest.raises(ValueError, match="3 rising values"):
            krippendorff_alpha(np.eye(3, dtype=np.int64), VALUES[::-1], Metric.INTERVAL)


class TestFleiss:
    def test_the_published_example_comes_out(self):
        assert round(fleiss_kappa(DIAGNOSES), 3) == 0.430

    @given(counts=full)
    def test_the_peer_agrees(self, counts):
        if (counts.sum(axis=0) > 0).sum() > 1:
            assert same(fleiss_kappa(counts), peers.fleiss_kappa(counts))

    @pytest.mark.parametrize(
        ("counts", "error", "message"),
        [
            (np.array([[2, 0], [2, 1]]), UnequalNumbersError, "from 2 to 3"),
            (np.zeros((0, 3), int), ValueError, "two judgments"),
            (np.eye(3, dtype=int), ValueError, "two judgments"),
        ],
        ids=["unequal numbers", "no judgments", "single judgments"],
    )
    def test_what_has_no_kappa_is_refused(self, counts, error, message):
        with pytest.raises(error, match=message):
            fleiss_kappa(counts)

    def test_a_single_value_has_no_kappa(self):
        assert np.isnan(fleiss_kappa(np.array([[3, 0]] * 4)))

    def test_the_most_common_number_prefers_the_larger_and_ignores_single_judgments(self):
        counts = np.array([[1, 0], [0, 1], [1, 0], [1, 1], [2, 1], [3, 0], [2, 0]])

        number, has_number = most_common_number(counts)

        assert number == 3
        assert has_number.tolist() == [False, False, False, False, True, True, False]
        assert most_common_number(counts[:3])[0] == 0


class TestGwet:
    def test_the_published_example_comes_out(self):
        assert round(gwet_ac1(observed()), 3) == 0.775

    def test_a_rare_value_does_not_pull_it_to_nought(self):
        counts = np.array([[2, 0]] * 118 + [[1, 1]] * 6 + [[0, 2]])

        assert gwet_ac1(counts) > 0.9
        assert krippendorff_alpha(counts, np.arange(2.0), Metric.NOMINAL) < 0.3

    def test_without_two_judgments_of_anything_there_is_none(self):
        assert np.isnan(gwet_ac1(np.eye(3, dtype=np.int64)))

    def test_one_value_is_no_choice(self):
        with pytest.raises(ValueError, match="two values"):
            gwet_ac1(np.array([[3]]))


class TestCounts:
    def test_pairs_of_judgments_weigh_alike(self):
        # One item with 3 of 3 pairs alike, one with 0 of 1.
        assert observed_agreement(np.array([[3, 0], [1, 1]])) == pytest.approx(3 / 4)

    @pytest.mark.parametrize(
        ("item", "value"), [([0, 2], [0, 0]), ([0, 1], [0, 3]), ([0], [0, 1]), ([-1], [0])]
    )
    def test_indices_out_of_range_are_refused(self, item, value):
        with pytest.raises(ValueError, match=r"must lie|differ"):
            count_values(np.array(item), np.array(value), n_items=2, n_values=3)


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

    def test_has_an_interval_for_few_units_as_ratings_have(self, rng, counts, unit):
        raw = partial(raw_agreement, tally(counts, unit, n_units=20))
        times = draw_times(20, 200, rng)

        found = estimated(raw, 20, times, level=0.9)

        value, drawn = np.array([found.value]), raw(times)[:, None]
        reach = expanded_intervals(value, drawn, n_units=20, level=0.9)
        assert (found.low, found.high) == (reach.low[0], reach.high[0])
        plain = np.quantile(drawn, [0.05, 0.95])
        assert found.low < plain[0]
        assert found.high > plain[1]

    def test_holds_as_often_as_it_says_for_few_units(self, rng):
        """Of twelve units plain percentiles hold in 88 of 100 samples."""
        units, held = np.arange(12), 0
        for _ in range(400):
            size = rng.integers(2, 9, 12)
            part = rng.binomial(size, rng.beta(4.0, 1.5, 12)).astype(float)
            share = ratio(part, size.astype(float), units, n_units=12)
            found = estimated(share, 12, draw_times(12, 200, rng), level=0.95)
            held += found.low <= 4.0 / 5.5 <= found.high

        assert held >= 0.9 * 400

    @pytest.mark.parametrize(
        ("drawn", "n_units"),
        [([0.5, 0.6, 0.7], 1), ([0.6] * 3, 9), ([0.6, np.nan, np.nan], 9), ([np.nan] * 3, 9)],
        ids=["one unit", "all alike", "one sample", "no sample"],
    )
    def test_has_no_interval_where_nothing_tells_how_far_others_may_be(self, drawn, n_units):
        found = of_samples(0.6, np.array(drawn), n_units=n_units, level=0.95)

        assert found.value == 0.6
        assert np.isnan([found.low, found.high]).all()


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
