"""Correlations over resampled dialogues: peers, samples written out, how often intervals hold."""

import numpy as np
import pytest

from access.later import call_of
from ranking.numerics.correlation import TooFewError
from ranking.numerics.few_units import expanded_intervals
from ranking.numerics.refits import draw_units
from ranking.numerics.unit_correlation import unit_pearson, unit_spearman

BOTH = [
    (unit_pearson, call_of("scipy.stats.pearsonr")),
    (unit_spearman, call_of("scipy.stats.spearmanr")),
]


def figures(rng, n_units=40):
    """Two figures of five messages a dialogue, with a part that the dialogue shares."""
    unit = np.repeat(np.arange(n_units), 5)
    shared = rng.normal(size=n_units)[unit]
    x = shared + rng.normal(size=len(unit))
    return x, np.round(0.5 * x + shared + rng.normal(size=len(unit)), 1), unit


def found_by(correlate, x, y, unit, n_replicates=200, seed=3):
    rng = np.random.default_rng(seed)
    return correlate(x, y, unit, n_replicates=n_replicates, rng=rng)


@pytest.mark.parametrize(("correlate", "peer"), BOTH)
class TestBoth:
    def test_the_coefficient_is_scipys(self, correlate, peer, rng):
        x, y, unit = figures(rng)

        found = found_by(correlate, x, y, unit)

        assert found.coefficient == pytest.approx(peer(x, y).statistic, abs=1e-12)
        assert (found.n, found.n_units) == (200, 40)

    def test_the_interval_is_that_of_the_samples_written_out(self, correlate, peer, rng):
        x, y, unit = figures(rng, n_units=25)

        found = found_by(correlate, x, y, unit)

        resampled = []
        for times in draw_units(25, 200, np.random.default_rng(3)):
            rows = np.repeat(np.arange(len(x)), times[unit].astype(int))
            resampled.append(peer(x[rows], y[rows]).statistic)
        reach = expanded_intervals(
            np.array([found.coefficient]), np.array(resampled)[:, None], n_units=25
        )
        assert (found.low, found.high) == pytest.approx((reach.low[0], reach.high[0]), abs=1e-10)

    def test_names_of_dialogues_do_not_matter(self, correlate, peer, rng):
        x, y, unit = figures(rng)

        assert found_by(correlate, x, y, 7 * unit + 100) == found_by(correlate, x, y, unit)
        assert peer(y, x).statistic == pytest.approx(found_by(correlate, y, x, unit).coefficient)

    def test_leaves_out_what_only_one_scored(self, correlate, peer, rng):
        x, y, unit = figures(rng)
        x[:3], y[10] = np.nan, np.nan

        found = found_by(correlate, x, y, unit)

        known = np.isfinite(x) & np.isfinite(y)
        assert found.n == 196
        assert found.coefficient == pytest.approx(peer(x[known], y[known]).statistic)

    def test_what_is_the_same_is_one(self, correlate, peer, rng):
        x, _, unit = figures(rng)

        found = found_by(correlate, x, 2 * x + 1, unit)

        assert (found.coefficient, found.low, found.high) == pytest.approx((1, 1, 1))
        assert peer is not None

    @pytest.mark.parametrize(
        ("x", "unit"),
        [
            ([1, 2, 3], [0, 1, 2]),
            ([1, 2, 3, 4], [0, 0, 0, 0]),
            ([1, 1, 1, 1], [0, 1, 2, 3]),
            ([], []),
        ],
    )
    def test_refuses_too_little(self, correlate, peer, x, unit):
        figure = np.array(x, dtype=float)
        with pytest.raises(TooFewError):
            found_by(correlate, figure, np.arange(len(x), dtype=float), np.array(unit, dtype=int))
        assert peer is not None


class TestCoverage:
    def test_of_pearsons_interval_with_dialogues_that_share(self):
        """300 planted studies of 60 dialogues: x and y share 0.5 by dialogue and by message."""
        rng, held = np.random.default_rng(8), 0
        for _ in range(300):
            unit = np.repeat(np.arange(60), 5)
            whole = rng.normal(size=(2, 60))[:, unit] + rng.normal(size=(2, 300))
            x, y = whole[0], whole[0] / 2 + whole[1]
            truth = 1 / np.sqrt(2 * 2.5)  # covariance 1, variances 2 and 2.5
            found = unit_pearson(x, y, unit, n_replicates=300, rng=rng)
            held += found.low <= truth <= found.high
        assert 0.91 <= held / 300 <= 0.98
