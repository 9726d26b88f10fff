"""What more judgments, fewer judgments and other rankers would change."""

from dataclasses import replace

import numpy as np
import pytest

from ranking.analyses import analyse, planning
from ranking.analyses.common import tabulated
from ranking.numerics.elo import ELO_PER_LOG_UNIT, to_elo
from ranking.numerics.strength_mode import StrengthMode
from tests.ranking.analyses.helpers import duel, make_columns, make_inputs, row_of, simulate, table
from tests.ranking.numerics.helpers import strengths_of


def coins(rng, n_units, *, share=0.5, per_unit=1, agreeing=False):
    rows = []
    for unit in range(n_units):
        drawn = rng.random(1 if agreeing else per_unit) < share
        for number in range(per_unit):
            strength = 3 if drawn[0 if agreeing else number] else -3
            rows.append((f"d{unit:03d}", unit, "a", "b", f"r{number}", strength, 1))
    return make_inputs(make_columns(rows), strength=StrengthMode.IGNORE)


@pytest.fixture
def _few_simulated(monkeypatch):
    monkeypatch.setattr(planning, "STUDIES", 10)


@pytest.mark.usefixtures("_few_simulated")
class TestPlanning:
    def test_of_a_duel_needs_about_what_the_closed_form_says(self, rng):
        """35 points are 55 to 45, for which 783 independent judgments are needed."""
        found = analyse("PLANNING", coins(rng, 400))

        row = row_of(found, "apart", x=35.0)
        assert row["dialogues"] == pytest.approx(783, rel=0.03)
        assert row["judgments"] == row["dialogues"]

    def test_counts_raters_who_always_agree_as_one(self, rng):
        found = analyse("PLANNING", coins(rng, 300, per_unit=3, agreeing=True))

        assert table(found, "neighbours")[0]["design_effect"] == pytest.approx(3.0, abs=0.05)
        row = table(found, "pair")[1]
        assert (row["independent"], row["here"]) == (783, pytest.approx(3 * 783, abs=3))

    def test_counts_raters_who_agree_as_one_in_dialogues_of_any_size(self, rng):
        """Of dialogues with one and with nine answers most judgments have eight beside them."""
        rows = [
            (f"d{unit:03d}", unit, "a", "b", f"r{number}", strength, 1)
            for unit in range(300)
            for strength in [int(rng.choice([3, -3]))]
            for number in range(9 if unit % 2 else 1)
        ]

        row = table(analyse("PLANNING", make_inputs(make_columns(rows))), "pair")[1]

        assert row["here"] == pytest.approx((1 + 81) / (1 + 9) * 783, rel=0.01)

    def test_may_be_looked_at_any_time(self, rng):
        found = analyse("PLANNING", coins(rng, 200, share=0.8))

        row = table(found, "any_time")[0]
        assert (row["system"], row["against"]) == ("a", "b")
        assert row["n"] == 200
        assert 0.5 < row["low"] < row["value"] < row["high"]
        assert row["told"] == "yes"

    def test_takes_dialogues_in_the_order_of_their_judgments(self, rng):
        """The same answers, later dialogues first by name: the sequence is the same."""
        strengths = np.where(rng.random(30) < 0.7, 3, -3)
        studies = [
            [(f"d{name:02d}", at, "a", "b", "r", strengths[at], 1) for at, name in enumerate(names)]
            for names in (range(30), range(29, -1, -1))
        ]

        one, other = (
            table(analyse("PLANNING", make_inputs(make_columns(rows))), "any_time")
            for rows in studies
        )

        assert one == other

    def test_says_where_nobody_judged_twice_and_no_correlation_is_known(self, rng):
        found = analyse("PLANNING", coins(rng, 30))

        caption = next(one.caption for one in found.tables if one.key == "pair")
        assert "is not known" in caption
        assert found.warnings[0].startswith("Only 30 source dialogues")
        assert {row["here"] for row in table(found, "pair")} == {None}
        assert [row["within"] for row in found.kept["neighbours"]] == [None]

    def test_dialogues_that_came_out_alike_promise_nothing(self):
        found = analyse("PLANNING", make_inputs(duel([3] * 4)))

        for row in table(found, "apart"):
            assert (row["dialogues"], row["power"], row["simulated"]) == (None, None, None)
        assert table(found, "neighbours")[0]["dialogues"] is None

    def test_equals_need_no_number_of_dialogues(self):
        found = analyse("PLANNING", make_inputs(duel([3, -3] * 15)))

        assert table(found, "neighbours")[0]["dialogues"] is None


class TestSimulatedPower:
    def test_has_a_formula_and_a_simulation_that_agree(self, rng):
        found = analyse("PLANNING", make_inputs(simulate(rng, n_units=150)))

        for row in table(found, "apart"):
            assert row["simulated"] == pytest.approx(row["power"], abs=0.05)
        assert [row["dialogues"] for row in table(found, "apart")] == sorted(
            (row["dialogues"] for row in table(found, "apart")), reverse=True
        )

    def test_simulates_at_the_level_of_the_fit(self, rng):
        inputs = make_inputs(simulate(rng, n_units=60))
        loose = replace(inputs, method=replace(inputs.method, level=0.5))

        power = [
            [row["simulated"] for row in table(analyse("PLANNING", one), "apart")]
            for one in (inputs, loose)
        ]

        assert power[1][0] > power[0][0] + 0.2


@pytest.mark.usefixtures("_few_simulated")
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


def votes(n_for, n_against):
    """System a against b, one dialogue and one rater for each judgment."""
    strengths = [3] * n_for + [-3] * n_against
    return make_columns(
        [(f"d{n:02d}", n, "a", "b", f"r{n:02d}", one, 1) for n, one in enumerate(strengths)]
    )


class TestFragility:
    def test_of_a_duel_is_its_surplus(self):
        """8 to 5: four must go, be they judgments, dialogues or evaluators."""
        found = analyse("FRAGILITY", make_inputs(votes(8, 5)))

        for row in table(found, "removals"):
            assert (row["n"], row["confirmed"], row["first"], row["new_first"]) == (13, 4, "a", "b")
        assert len(table(found, "decisive")) == 4
        captions = " ".join(one.caption for one in found.tables)
        assert "10 systems next behind" in captions
        assert "At most 200 evaluators" in captions

    def test_of_equals_has_the_first_place_of_the_board(self):
        found = analyse("FRAGILITY", make_inputs(votes(3, 3)))

        assert {row["first"] for row in table(found, "removals")} == {"a"}
        assert {row["confirmed"] for row in table(found, "removals")} == {1}

    def test_warns_where_one_evaluator_decides(self):
        rows = [(f"d{n:02d}", n, "a", "b", "many", -((-1) ** n) * 2, 1) for n in range(21)]
        rows += [("d00", 21, "a", "b", "one", 4, 1)]

        found = analyse("FRAGILITY", make_inputs(make_columns(rows)))

        assert "The first place rests on 1 of 2 evaluators." in found.warnings

    def test_leaves_each_evaluator_out_exactly(self, rng):
        columns = simulate(rng)
        inputs = make_inputs(columns)
        found = {row["evaluator"]: row for row in table(analyse("FRAGILITY", inputs), "each")}
        before = to_elo(strengths_of(tabulated(columns, inputs.method)))

        for number, name in enumerate(columns.evaluators):
            others = columns.taken(np.flatnonzero(columns.evaluator != number))
            after = to_elo(strengths_of(tabulated(others, inputs.method)))
            moved = np.abs(after - before).max()
            assert abs(found[name]["change"]) == pytest.approx(moved, abs=0.01)
            assert found[name]["n"] == (columns.evaluator == number).sum()

    def test_says_nothing_of_ratings_without_the_only_evaluator(self):
        found = analyse("FRAGILITY", make_inputs(duel([3, 3, -3])))

        assert table(found, "each")[0]["change"] is None
        assert table(found, "removals")[2]["confirmed"] is None


NAMES = ("bradley_terry", "win_rate", "online_elo", "skill", "pagerank", "eigenvector")


class TestRankers:
    def test_agree_where_the_order_is_clear(self, rng):
        columns = simulate(rng, theta=(2.0, 0.7, -0.7, -2.0), n_units=80)

        found = analyse("RANKERS", make_inputs(columns))

        for place, row in enumerate(table(found, "ranks")):
            assert row == {"system": f"system-{place}", **dict.fromkeys(NAMES, place + 1)}
        assert {row["tau"] for row in table(found, "agreement")} == {1.0}

    def test_have_nothing_to_agree_on_where_all_are_equal(self):
        found = analyse("RANKERS", make_inputs(duel([0] * 6)))

        assert {row["tau"] for row in table(found, "agreement")} == {None}
        assert {row["win_rate"] for row in table(found, "figures")} == {0.5}

    def test_say_which_of_them_leave_declared_masses_out(self, rng):
        found = analyse("RANKERS", make_inputs(simulate(rng), masses=(1.0, 3.0)))

        assert any("Online Elo and OpenSkill count" in warning for warning in found.warnings)

    def test_keep_online_elo_near_the_ratings_after_many_judgments(self, rng):
        found = analyse("RANKERS", make_inputs(simulate(rng, n_units=300)))

        for row in table(found, "figures"):
            assert row["online_elo"] == pytest.approx(row["bradley_terry"], abs=15)
