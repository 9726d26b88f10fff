"""Ratings beside speed and capability."""

from dataclasses import replace

import numpy as np
import pytest
import scipy

from ranking.analyses import analyse, boards, latency
from ranking.findings import AnalysisRefusedError
from tests.ranking.analyses.helpers import (
    MadeUpSources,
    make_columns,
    make_facts,
    make_inputs,
    simulate,
    table,
)

THETA = (1.2, 0.7, 0.2, -0.3, -0.7, -1.1)


@pytest.fixture
def inputs(rng):
    return make_inputs(simulate(rng, theta=THETA, n_units=60))


def known(inputs, **figures):
    """Tell the sources one figure of each system, in the order of the systems."""
    systems = inputs.columns.systems
    facts = {
        slug: make_facts(slug, **{name: values[n] for name, values in figures.items()})
        for n, slug in enumerate(systems)
    }
    return replace(inputs, sources=MadeUpSources(of_systems=facts))


class TestFigures:
    def test_an_index_that_orders_as_elo_does_is_found(self, inputs):
        findings = analyse("LATENCY", known(inputs, intelligence_index=[60, 50, 44, 41, 30, 20]))

        pearson, spearman = table(findings, "correlations")
        assert (pearson["coefficient_of"], pearson["systems"]) == ("Pearson", 6)
        assert (spearman["coefficient_of"], spearman["coefficient"]) == ("Spearman", 1.0)
        assert [one.key for one in findings.tables] == ["capability", "correlations"]

    def test_pearson_is_that_of_the_shown_figures(self, inputs):
        times = [900, 120, 3000, 450, 800, 10000]

        findings = analyse("LATENCY", known(inputs, published_ttft_ms=times))

        shown = table(findings, "speed")
        x, y = ([row[key] for row in shown] for key in ("x", "y"))
        found = table(findings, "correlations")[0]
        assert found["coefficient"] == pytest.approx(
            scipy.stats.pearsonr(np.log(x), y).statistic, abs=1e-3
        )
        assert found["resampled_low"] <= found["coefficient"] <= found["resampled_high"]
        assert [row["is_fast"] for row in shown if row["x"] <= 500] == [True, True]
        assert all(row["low"] <= row["y"] <= row["high"] for row in shown)

    def test_times_measured_here_come_before_published_ones(self, inputs):
        measured = [100.0, None, None, None, None, None]

        findings = analyse(
            "LATENCY", known(inputs, published_ttft_ms=[700.0] * 6, measured_ttft_ms=measured)
        )

        rows = {row["system"]: row for row in table(findings, "speed")}
        assert (rows["system-0"]["x"], rows["system-0"]["source"]) == (100, "measured here")
        assert (rows["system-1"]["x"], rows["system-1"]["source"]) == (700, "published")

    def test_p_values_are_adjusted_over_the_family(self, inputs):
        index, times = [60, 30, 44, 41, 50, 20], [900, 120, 3000, 450, 800, 10000]

        both = table(
            analyse("LATENCY", known(inputs, intelligence_index=index, published_ttft_ms=times)),
            "correlations",
        )

        alone = table(analyse("LATENCY", known(inputs, intelligence_index=index)), "correlations")
        assert len(both) == 4
        assert all(one["p"] >= other["p"] for one, other in zip(both[2:], alone, strict=True))

    def test_elo_is_that_of_the_pairs_though_resamples_lean_to_one_side(self, rng):
        columns = simulate(rng, theta=(2.0, -2.0), n_units=4, pairs_per_unit=1, per_pair=1)
        inputs = make_inputs(columns)
        board = boards.rated(columns, inputs.method)
        leaning = replace(board, resampled=board.elo + np.abs(rng.normal(size=(50, 2))) + 1.0)

        value, low, high = latency._elo(leaning, 0, 0.95)

        assert value == low == round(board.elo[0], 1) < high


class TestOddStudies:
    def test_resamples_of_ties_alone_have_no_correlation(self):
        # One resample in three leaves out the only dialogue in which anybody won.
        rows = [
            (f"d{unit}", n, *pair, "r", 5 if unit == 0 else 0, 1)
            for unit in range(5)
            for n, pair in enumerate(["ab", "bc", "cd"])
        ]
        inputs = make_inputs(make_columns(rows))

        findings = analyse("LATENCY", known(inputs, intelligence_index=[4, 2, 3, 1]))

        row = table(findings, "correlations")[0]
        assert -1 <= row["resampled_low"] <= row["resampled_high"] <= 1

    def test_no_figure_and_judgments_of_a_file_are_refused(self, inputs):
        with pytest.raises(AnalysisRefusedError, match="Neither a time"):
            analyse("LATENCY", known(inputs))
        with pytest.raises(AnalysisRefusedError, match="Nothing is known of the systems"):
            analyse("LATENCY", inputs)

    def test_too_few_systems_are_shown_without_a_correlation(self, inputs):
        index = [60.0, None, 44.0, None, None, None]

        findings = analyse("LATENCY", known(inputs, intelligence_index=index))

        assert [one.key for one in findings.tables] == ["capability"]
