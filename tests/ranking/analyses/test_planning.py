"""Plans as readers see them."""

from dataclasses import replace

import numpy as np
import pytest

from ranking.analyses import analyse
from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.strength_mode import StrengthMode
from tests.ranking.analyses.helpers import make_columns, make_inputs, simulate, table


def duel(rng, n_units, *, share=0.5, per_unit=1, agreeing=False):
    rows = []
    for unit in range(n_units):
        drawn = rng.random(1 if agreeing else per_unit) < share
        for number in range(per_unit):
            strength = 3 if drawn[0 if agreeing else number] else -3
            rows.append((f"d{unit:03d}", unit, "a", "b", f"r{number}", strength, 1))
    return make_inputs(make_columns(rows), strength=StrengthMode.IGNORE)


class TestPlanning:
    def test_of_a_duel_needs_about_what_the_closed_form_says(self, rng):
        """35 points are 55 to 45, for which 783 independent judgments are needed."""
        found = analyse("PLANNING", duel(rng, 400))

        row = next(row for row in table(found, "apart") if row["x"] == 35.0)
        assert row["dialogues"] == pytest.approx(783, rel=0.03)
        assert row["judgments"] == row["dialogues"]

    def test_has_a_formula_and_a_simulation_that_agree(self, rng):
        found = analyse("PLANNING", make_inputs(simulate(rng, n_units=150)))

        for row in table(found, "apart"):
            assert row["simulated"] == pytest.approx(row["power"], abs=0.05)
        assert [row["dialogues"] for row in table(found, "apart")] == sorted(
            (row["dialogues"] for row in table(found, "apart")), reverse=True
        )

    def test_counts_raters_who_always_agree_as_one(self, rng):
        found = analyse("PLANNING", duel(rng, 300, per_unit=3, agreeing=True))

        assert table(found, "neighbours")[0]["design_effect"] == pytest.approx(3.0, abs=0.05)
        row = table(found, "pair")[1]
        assert (row["independent"], row["here"]) == (783, pytest.approx(3 * 783, abs=3))

    def test_may_be_looked_at_any_time(self, rng):
        found = analyse("PLANNING", duel(rng, 200, share=0.8))

        row = table(found, "any_time")[0]
        assert (row["system"], row["against"]) == ("a", "b")
        assert row["n"] == 200
        assert 0.5 < row["low"] < row["value"] < row["high"]
        assert row["told"] == "yes"

    def test_takes_dialogues_in_the_order_of_their_judgments(self, rng):
        """The same answers, later dialogues first by name: the sequence is the same."""
        answers = rng.random(30) < 0.7
        one, other = (
            make_inputs(
                make_columns(
                    [
                        (f"d{name:02d}", at, "a", "b", "r", 3 if answers[at] else -3, 1)
                        for at, name in enumerate(names)
                    ]
                )
            )
            for names in (range(30), range(29, -1, -1))
        )

        tables = [table(analyse("PLANNING", inputs), "any_time") for inputs in (one, other)]

        assert tables[0] == tables[1]

    def test_says_where_no_correlation_is_known(self, rng):
        found = analyse("PLANNING", duel(rng, 30))

        caption = next(one.caption for one in found.tables if one.key == "pair")
        assert "is not known" in caption
        assert {row["here"] for row in table(found, "pair")} == {None}

    def test_dialogues_that_came_out_alike_promise_nothing(self):
        rows = [(f"d{n}", n, "a", "b", "r", 3, 1) for n in range(4)]

        found = analyse("PLANNING", make_inputs(make_columns(rows)))

        for row in table(found, "apart"):
            assert (row["dialogues"], row["power"], row["simulated"]) == (None, None, None)
        assert table(found, "neighbours")[0]["dialogues"] is None

    def test_equals_need_no_number_of_dialogues(self, rng):
        rows = [(f"d{n}", n, "a", "b", "r", 3 * (-1) ** n, 1) for n in range(30)]

        found = analyse("PLANNING", make_inputs(make_columns(rows)))

        assert table(found, "neighbours")[0]["dialogues"] is None

    def test_simulates_at_the_level_of_the_fit(self, rng):
        inputs = make_inputs(simulate(rng, n_units=60))
        loose = replace(inputs, method=replace(inputs.method, level=0.5))

        power = [
            [row["simulated"] for row in table(analyse("PLANNING", one), "apart")]
            for one in (inputs, loose)
        ]

        assert power[1][0] > power[0][0] + 0.2

    def test_warns_of_few_dialogues(self, rng):
        assert analyse("PLANNING", duel(rng, 12)).warnings
        assert not np.any(analyse("PLANNING", duel(rng, 60)).warnings)


class TestWhatThePlannerComputesFrom:
    def test_adds_up_to_the_errors_of_neighbours(self, rng):
        found = analyse("PLANNING", make_inputs(simulate(rng, n_units=60, n_judges=0)))

        assert found.kept["n_judgments"] == 60 * 4 * 4
        for kept, row in zip(found.kept["neighbours"], table(found, "neighbours"), strict=True):
            error = (kept["between"] + kept["within"]) ** 0.5 * ELO_PER_LOG_UNIT
            assert (kept["first"], kept["second"]) == (row["first"], row["second"])
            assert error == pytest.approx(row["error"], abs=0.006)

    def test_takes_judges_for_themselves(self, rng):
        found = analyse("PLANNING", make_inputs(simulate(rng, n_units=40, n_raters=0, n_judges=4)))

        assert {row["raters"] for row in found.kept["neighbours"]} == {0.0}

    def test_does_not_know_what_nobody_judged_twice(self, rng):
        found = analyse("PLANNING", duel(rng, 40))

        assert [row["within"] for row in found.kept["neighbours"]] == [None]
