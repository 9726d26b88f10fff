"""Strategies of systems, families, people and models."""

from dataclasses import replace

import numpy as np
import pytest

from ranking.analyses import analyse
from ranking.findings import AnalysisRefusedError
from ranking.judgments.sources import ItemFacts, StrategyLabels
from tests.ranking.analyses.helpers import make_inputs, simulate, table
from tests.ranking.analyses.sources import MadeUpSources, make_facts

FAMILIES = {"system-0": "birch", "system-1": "", "system-2": "birch", "system-3": "alder"}


def make_items(columns):
    """Give every pair two messages of its own."""
    n = columns.n_items
    first, second = np.zeros(n, dtype=int), np.zeros(n, dtype=int)
    first[columns.item], second[columns.item] = columns.first, columns.second
    return ItemFacts(
        context=np.arange(n),
        is_adversarial=np.zeros(n, dtype=bool),
        message=np.arange(2 * n).reshape(n, 2),
        system=np.stack([first, second], axis=1).ravel(),
        message_context=np.repeat(np.arange(n), 2),
    )


def known(columns, probability, *, human="system-1"):
    facts = {
        slug: make_facts(slug, kind="HUMAN" if slug == human else "MODEL", family=FAMILIES[slug])
        for slug in columns.systems
    }
    labels = StrategyLabels(("hope", "asks"), ("Hope", "Asking"), probability, ("A labeller",))
    sources = MadeUpSources(facts, of_items=make_items(columns), labels=labels)
    return replace(make_inputs(columns), sources=sources)


@pytest.fixture
def columns(rng):
    return simulate(rng, n_units=60)


@pytest.fixture
def probability(columns, rng):
    """Models ask in 70 % of their messages and people in 20 %; hope is alike in all."""
    is_human = make_items(columns).system == 1
    asks = rng.random(len(is_human)) < np.where(is_human, 0.2, 0.7)
    return np.stack([rng.random(len(is_human)) < 0.5, asks], axis=1).astype(float)


class TestRates:
    def test_are_the_plain_shares(self, columns, probability):
        findings = analyse("STRATEGIES", known(columns, probability))

        system = make_items(columns).system
        for n, row in enumerate(table(findings, "rates")):
            assert row["system"] == f"system-{n}"
            assert row["asks"] == pytest.approx(probability[system == n, 1].mean(), abs=1e-4)
        assert findings.is_exploratory
        assert findings.warnings == ("Labelled by A labeller.",)

    def test_families_take_their_systems_together(self, columns, probability):
        findings = analyse("STRATEGIES", known(columns, probability))

        n = {row["of"]: row["messages"] for row in table(findings, "use")}
        families = {row["of"]: row["messages"] for row in table(findings, "families")}
        assert families == {
            "birch": n["system-0"] + n["system-2"],
            "alder": n["system-3"],
            "People": n["system-1"],
        }


class TestDifferences:
    def test_find_what_differs_and_not_what_does_not(self, columns, probability):
        rows = table(analyse("STRATEGIES", known(columns, probability)), "differences")

        hope, asks = rows
        assert asks["value"] == pytest.approx(asks["models"] - asks["people"], abs=2e-4)
        assert asks["low"] > 0.3
        assert asks["p"] < 0.001
        assert hope["low"] < 0 < hope["high"]

    def test_need_people(self, columns, probability):
        findings = analyse("STRATEGIES", known(columns, probability, human="nobody"))

        assert [one.key for one in findings.tables] == ["rates", "use", "families"]


class TestOddStudies:
    def test_without_labels_is_refused(self, columns, probability):
        inputs = known(columns, probability)
        without = replace(inputs, sources=replace(inputs.sources, labels=None))

        with pytest.raises(AnalysisRefusedError, match="No model has labelled"):
            analyse("STRATEGIES", without)

    def test_messages_without_labels_are_left_out_and_counted(self, columns, probability):
        probability[:7] = np.nan

        findings = analyse("STRATEGIES", known(columns, probability))

        assert "7 of the messages judged are not labelled" in findings.warnings[1]
        total = sum(row["messages"] for row in table(findings, "use"))
        assert total == len(probability) - 7
