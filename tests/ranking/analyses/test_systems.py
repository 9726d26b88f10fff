"""Ratings beside what is known of systems: speed, index, who wrote, which strategies."""

from dataclasses import replace

import numpy as np
import pytest
import scipy

from ranking.analyses import FEWEST_DIALOGUES, analyse, boards, latency
from ranking.findings import AnalysisRefusedError
from ranking.judgments.sources import StrategyLabels
from tests.ranking.analyses.helpers import (
    MadeUpSources,
    duel,
    keys_of,
    make_columns,
    make_facts,
    make_inputs,
    messages_of,
    simulate,
    strata_of,
    table,
)
from tests.ranking.numerics import peers

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
        assert keys_of(findings) == ["capability", "correlations"]

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


class TestOddFigures:
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

        assert keys_of(findings) == ["capability"]


KINDS = ("MODEL", "HUMAN", "MODEL", "ORIGINAL")


def written_by(columns, kinds=KINDS, *, n_adversarial=0):
    facts = {
        slug: make_facts(slug, kind=kind) for slug, kind in zip(columns.systems, kinds, strict=True)
    }
    items = strata_of(columns, n_adversarial=n_adversarial)
    return make_inputs(columns, sources=MadeUpSources(facts, of_items=items))


@pytest.fixture
def columns(rng):
    return simulate(rng, n_units=80)


class TestShares:
    def test_count_only_people_against_models(self, columns):
        findings = analyse("PEOPLE", written_by(columns))

        row = table(findings, "overall")[0]
        sides = {(0, 1), (1, 2)}
        met = [
            (min(pair), max(pair)) in sides
            for pair in zip(columns.first.tolist(), columns.second.tolist(), strict=True)
        ]
        assert row["judgments"] == sum(met)
        assert row["model"] + row["tie"] + row["person"] == pytest.approx(1.0, abs=2e-4)
        assert row["value"] == pytest.approx(row["model"] - row["person"], abs=2e-4)
        assert row["low"] < row["value"] < row["high"]

    def test_are_those_of_a_plain_count_the_better_model_first(self, columns):
        rows = table(analyse("PEOPLE", written_by(columns)), "models")

        first, second, strength = columns.first, columns.second, columns.strength
        lead = np.concatenate(
            [strength[(first == 0) & (second == 1)], -strength[(first == 1) & (second == 0)]]
        )
        assert [row["system"] for row in rows] == ["system-0", "system-2"]
        assert rows[0]["judgments"] == len(lead)
        assert rows[0]["model"] == pytest.approx((lead > 0).mean(), abs=1e-4)
        assert rows[0]["tie"] == pytest.approx((lead == 0).mean(), abs=1e-4)
        assert rows[0]["low"] > 0 > rows[1]["high"]
        assert rows[0]["p"] < 0.05

    def test_near_one_side_have_the_interval_of_wilson(self):
        inputs = written_by(duel([3] * 57 + [-3] * 3), ("MODEL", "HUMAN"))

        row = table(analyse("PEOPLE", inputs), "overall")[0]

        low, high = peers.proportion_confint(57, 60, method="wilson")
        assert row["value"] == 0.9
        # Student's t goes from 0.79 to 1.01.
        assert (row["low"], row["high"]) == pytest.approx((2 * low - 1, 2 * high - 1), abs=5e-3)

    def test_tell_strata_and_kinds_of_evaluators_apart(self, columns):
        rows = table(analyse("PEOPLE", written_by(columns, n_adversarial=20)), "overall")

        n = {row["group"]: row["judgments"] for row in rows}
        assert n["regular contexts"] + n["adversarial contexts"] == n["all judgments"]
        assert n["judged by people"] + n["judged by LLM judges"] == n["all judgments"]


class TestOddStudies:
    def test_on_few_dialogues_counts_alone_are_told(self):
        inputs = written_by(duel([3] * (FEWEST_DIALOGUES - 1)), ("MODEL", "HUMAN"))

        (row,) = table(analyse("PEOPLE", inputs), "models")

        assert row["judgments"] == FEWEST_DIALOGUES - 1
        assert (row["value"], row["low"], row["high"], row["p"]) == (None, None, None, None)

    def test_without_people_is_refused(self, columns):
        with pytest.raises(AnalysisRefusedError, match="No message written by a person"):
            analyse("PEOPLE", written_by(columns, ("MODEL",) * 4))

    def test_of_one_dialogue_is_refused(self, columns):
        one = columns.taken(np.flatnonzero(columns.unit == 0))
        kinds = ("HUMAN", "MODEL", "MODEL", "MODEL")[: len(one.systems)]

        with pytest.raises(AnalysisRefusedError, match="one source dialogue alone"):
            analyse("PEOPLE", written_by(one, kinds))


FAMILIES = {"system-0": "birch", "system-1": "", "system-2": "birch", "system-3": "alder"}


def labelled(columns, probability, *, human="system-1"):
    facts = {
        slug: make_facts(slug, kind="HUMAN" if slug == human else "MODEL", family=FAMILIES[slug])
        for slug in columns.systems
    }
    labels = StrategyLabels(("hope", "asks"), ("Hope", "Asking"), probability, ("A labeller",))
    sources = MadeUpSources(facts, of_items=messages_of(columns), labels=labels)
    return make_inputs(columns, sources=sources)


@pytest.fixture
def many(rng):
    return simulate(rng, n_units=60)


@pytest.fixture
def probability(many, rng):
    """Models ask in 70 % of their messages and people in 20 %; hope is alike in all."""
    is_human = messages_of(many).system == 1
    asks = rng.random(len(is_human)) < np.where(is_human, 0.2, 0.7)
    return np.stack([rng.random(len(is_human)) < 0.5, asks], axis=1).astype(float)


class TestRates:
    def test_are_the_plain_shares_and_those_of_a_family_taken_together(self, many, probability):
        findings = analyse("STRATEGIES", labelled(many, probability))

        system = messages_of(many).system
        for n, row in enumerate(table(findings, "rates")):
            assert row["system"] == f"system-{n}"
            assert row["asks"] == pytest.approx(probability[system == n, 1].mean(), abs=1e-4)
        messages = {row["of"]: row["messages"] for row in table(findings, "use")}
        families = {row["of"]: row["messages"] for row in table(findings, "families")}
        assert families == {
            "birch": messages["system-0"] + messages["system-2"],
            "alder": messages["system-3"],
            "People": messages["system-1"],
        }
        assert findings.warnings == ("Labelled by A labeller.",)

    def test_are_told_with_how_evenly_they_are_used(self, many, probability):
        row = table(analyse("STRATEGIES", labelled(many, probability)), "use")[0]

        rates = probability[messages_of(many).system == 0].mean(axis=0)
        found = (row["per_message"], row["entropy"], row["sd"], row["range"])
        entropy = scipy.stats.entropy(rates, base=2)
        expected = (rates.sum(), entropy, rates.std(ddof=1), np.ptp(rates))
        assert found == pytest.approx(expected, abs=0.005)


class TestDifferences:
    def test_find_what_differs_and_not_what_does_not(self, many, probability):
        rows = table(analyse("STRATEGIES", labelled(many, probability)), "differences")

        hope, asks = rows
        assert asks["value"] == pytest.approx(asks["models"] - asks["people"], abs=2e-4)
        assert asks["low"] > 0.3
        assert asks["p"] < 0.001
        assert hope["low"] < 0 < hope["high"]

    def test_need_people(self, many, probability):
        findings = analyse("STRATEGIES", labelled(many, probability, human="nobody"))

        assert keys_of(findings) == ["rates", "use", "families"]


class TestOddLabels:
    def test_without_labels_is_refused(self, many, probability):
        inputs = labelled(many, probability)
        without = replace(inputs, sources=replace(inputs.sources, labels=None))

        with pytest.raises(AnalysisRefusedError, match="No model has labelled"):
            analyse("STRATEGIES", without)

    def test_messages_without_labels_are_left_out_and_counted(self, many, probability):
        probability[:7] = np.nan

        findings = analyse("STRATEGIES", labelled(many, probability))

        assert "7 of the messages judged are not labelled" in findings.warnings[1]
        total = sum(row["messages"] for row in table(findings, "use"))
        assert total == len(probability) - 7
