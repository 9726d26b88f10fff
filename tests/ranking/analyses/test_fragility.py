"""Robustness of first place, as readers see it."""

import numpy as np
import pytest

from ranking.analyses import analyse
from ranking.analyses.common import weighted_pairs
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import to_elo
from ranking.numerics.tables import tabulate
from tests.ranking.analyses.helpers import make_columns, make_inputs, simulate, table


def duel(n_for, n_against):
    """System a against b, one dialogue and one rater for each judgment."""
    strengths = [3] * n_for + [-3] * n_against
    return make_columns(
        [(f"d{n:02d}", n, "a", "b", f"r{n:02d}", one, 1) for n, one in enumerate(strengths)]
    )


class TestFragility:
    def test_of_a_duel_is_its_surplus(self):
        """8 to 5: four must go, be they judgments, dialogues or evaluators."""
        found = analyse("FRAGILITY", make_inputs(duel(8, 5)))

        for row in table(found, "removals"):
            assert (row["n"], row["confirmed"], row["first"], row["new_first"]) == (13, 4, "a", "b")
        assert len(table(found, "decisive")) == 4

    def test_of_equals_has_the_first_place_of_the_board(self):
        found = analyse("FRAGILITY", make_inputs(duel(3, 3)))

        assert {row["first"] for row in table(found, "removals")} == {"a"}
        assert {row["confirmed"] for row in table(found, "removals")} == {1}

    def test_says_what_it_did_not_try(self):
        captions = " ".join(
            one.caption for one in analyse("FRAGILITY", make_inputs(duel(8, 5))).tables
        )

        assert "10 systems next behind" in captions
        assert "At most 200 evaluators" in captions

    def test_warns_where_one_evaluator_decides(self, rng):
        rows = [(f"d{n:02d}", n, "a", "b", "many", -((-1) ** n) * 2, 1) for n in range(21)]
        rows += [("d00", 21, "a", "b", "one", 4, 1)]

        found = analyse("FRAGILITY", make_inputs(make_columns(rows)))

        assert "The first place rests on 1 of 2 evaluators." in found.warnings

    def test_leaves_each_evaluator_out_exactly(self, rng):
        columns = simulate(rng)
        inputs = make_inputs(columns)
        found = {row["evaluator"]: row for row in table(analyse("FRAGILITY", inputs), "each")}
        pairs = weighted_pairs(columns, inputs.method)
        sizes = {"n_units": len(columns.units), "n_systems": len(columns.systems)}
        before = to_elo(fit_bradley_terry(tabulate(pairs, **sizes).total()).log_strengths)

        for number, name in enumerate(columns.evaluators):
            others = columns.taken(np.flatnonzero(columns.evaluator != number))
            rows = weighted_pairs(others, inputs.method)
            tables = tabulate(rows, n_units=len(others.units), n_systems=sizes["n_systems"])
            after = to_elo(fit_bradley_terry(tables.total()).log_strengths)
            moved = np.abs(after - before).max()
            assert abs(found[name]["change"]) == pytest.approx(moved, abs=0.01)
            assert found[name]["n"] == (columns.evaluator == number).sum()

    def test_says_nothing_of_ratings_without_the_only_evaluator(self):
        rows = [(f"d{n}", n, "a", "b", "r", one, 1) for n, one in enumerate((3, 3, -3))]

        found = analyse("FRAGILITY", make_inputs(make_columns(rows)))

        assert table(found, "each")[0]["change"] is None
        assert table(found, "removals")[2]["confirmed"] is None
