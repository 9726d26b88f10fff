"""Coefficients of agreement against published answers, their peers and their invariants."""

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
from ranking.numerics.agreement.opinions import count_values, observed_agreement
from tests.ranking.numerics import peers
from tests.ranking.numerics.agreement.published import DIAGNOSES, OBSERVED

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
    def test_turning_the_values_around_changes_nothing(self, counts):
        for metric in Metric:
            turned = krippendorff_alpha(counts[:, ::-1], VALUES, metric)
            assert same(krippendorff_alpha(counts, VALUES, metric), turned)

    @given(counts=tables)
    def test_names_of_values_mean_nothing_to_the_nominal_alpha(self, counts):
        renamed = counts[:, [1, 2, 0]]

        assert same(
            krippendorff_alpha(counts, VALUES, Metric.NOMINAL),
            krippendorff_alpha(renamed, VALUES, Metric.NOMINAL),
        )

    def test_judgments_alone_of_their_item_change_nothing(self):
        alone = np.vstack([observed(), np.eye(5, dtype=np.int64)])

        for metric in Metric:
            assert krippendorff_alpha(alone, np.arange(5.0), metric) == pytest.approx(
                krippendorff_alpha(observed(), np.arange(5.0), metric)
            )

    @pytest.mark.parametrize("metric", Metric)
    def test_chance_gives_nought(self, rng, metric):
        counts = rng.multinomial(4, [0.5, 0.1, 0.4], size=20_000)

        # 0.01 is more than three standard errors
        assert krippendorff_alpha(counts, VALUES, metric) == pytest.approx(0.0, abs=0.01)

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

    def test_unequal_numbers_are_refused(self):
        with pytest.raises(UnequalNumbersError, match="from 2 to 3"):
            fleiss_kappa(np.array([[2, 0], [2, 1]]))

    @pytest.mark.parametrize(
        "counts", [np.zeros((0, 3), int), np.eye(3, dtype=int)], ids=["0", "1"]
    )
    def test_single_judgments_are_refused(self, counts):
        with pytest.raises(ValueError, match="two judgments"):
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
