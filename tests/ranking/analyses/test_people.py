"""People's messages against models'."""

from dataclasses import replace

import numpy as np
import pytest

from ranking.analyses import FEWEST_DIALOGUES, analyse
from ranking.findings import AnalysisRefusedError
from ranking.judgments.sources import ItemFacts
from tests.ranking.analyses.helpers import make_columns, make_inputs, simulate, table
from tests.ranking.analyses.sources import MadeUpSources, make_facts

KINDS = ("MODEL", "HUMAN", "MODEL", "ORIGINAL")


def make_items(columns, *, n_adversarial=0):
    """Say of each pair whether it is hostile: those of the first dialogues are."""
    unit_of = np.zeros(columns.n_items, dtype=int)
    unit_of[columns.item] = columns.unit
    nothing = np.zeros(0, dtype=int)
    return ItemFacts(unit_of, unit_of < n_adversarial, nothing.reshape(0, 2), nothing, nothing)


def known(columns, kinds=KINDS, *, n_adversarial=0):
    facts = {
        slug: make_facts(slug, kind=kind) for slug, kind in zip(columns.systems, kinds, strict=True)
    }
    items = make_items(columns, n_adversarial=n_adversarial)
    return replace(make_inputs(columns), sources=MadeUpSources(facts, of_items=items))


@pytest.fixture
def columns(rng):
    return simulate(rng, n_units=80)


class TestShares:
    def test_count_only_people_against_models(self, columns):
        findings = analyse("PEOPLE", known(columns))

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
        assert findings.is_exploratory

    def test_are_those_of_a_plain_count(self, columns):
        rows = {row["system"]: row for row in table(analyse("PEOPLE", known(columns)), "models")}

        first, second, strength = columns.first, columns.second, columns.strength
        lead = np.concatenate(
            [
                strength[(first == 0) & (second == 1)],
                -strength[(first == 1) & (second == 0)],
            ]
        )
        assert set(rows) == {"system-0", "system-2"}
        assert rows["system-0"]["judgments"] == len(lead)
        assert rows["system-0"]["model"] == pytest.approx((lead > 0).mean(), abs=1e-4)
        assert rows["system-0"]["tie"] == pytest.approx((lead == 0).mean(), abs=1e-4)

    def test_see_the_better_model_ahead_and_the_worse_one_behind(self, columns):
        rows = table(analyse("PEOPLE", known(columns)), "models")

        assert [row["system"] for row in rows] == ["system-0", "system-2"]
        assert rows[0]["low"] > 0 > rows[1]["high"]
        assert rows[0]["p"] < 0.05

    def test_tell_strata_and_kinds_of_evaluators_apart(self, columns):
        rows = table(analyse("PEOPLE", known(columns, n_adversarial=20)), "overall")

        n = {row["group"]: row["judgments"] for row in rows}
        assert n["regular contexts"] + n["adversarial contexts"] == n["all judgments"]
        assert n["judged by people"] + n["judged by LLM judges"] == n["all judgments"]

    def test_turn_when_people_and_models_change_places(self, columns):
        row = table(analyse("PEOPLE", known(columns)), "overall")[0]
        turned = ("HUMAN", "MODEL", "HUMAN", "ORIGINAL")

        other = table(analyse("PEOPLE", known(columns, turned)), "overall")[0]

        assert other["value"] == pytest.approx(-row["value"])
        assert other["model"] == row["person"]


class TestOddStudies:
    def test_where_all_dialogues_agree_there_is_no_interval_but_a_test_by_coins(self):
        rows = [(f"d{n}", n, "model", "person", "r", 3, 1) for n in range(FEWEST_DIALOGUES)]
        inputs = known(make_columns(rows), ("MODEL", "HUMAN"))

        (row,) = table(analyse("PEOPLE", inputs), "models")

        assert (row["value"], row["low"], row["high"]) == (1.0, None, None)
        assert row["p"] == 2.0 ** (1 - FEWEST_DIALOGUES)

    def test_on_few_dialogues_counts_alone_are_told(self):
        rows = [(f"d{n}", n, "model", "person", "r", 3, 1) for n in range(FEWEST_DIALOGUES - 1)]

        findings = analyse("PEOPLE", known(make_columns(rows), ("MODEL", "HUMAN")))

        (row,) = table(findings, "models")
        assert (row["value"], row["low"], row["high"], row["p"]) == (None, None, None, None)
        assert findings.warnings[-1] == (
            "Tests need 10 source dialogues, and there are 9: no p-values."
        )

    def test_without_people_is_refused(self, columns):
        with pytest.raises(AnalysisRefusedError, match="No message written by a person"):
            analyse("PEOPLE", known(columns, ("MODEL",) * 4))

    def test_of_one_dialogue_is_refused(self, columns):
        one = columns.taken(np.flatnonzero(columns.unit == 0))
        kinds = ("HUMAN", "MODEL", "MODEL", "MODEL")[: len(one.systems)]

        with pytest.raises(AnalysisRefusedError, match="one source dialogue alone"):
            analyse("PEOPLE", known(one, kinds))
