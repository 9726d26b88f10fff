"""System against system, on simulated studies and on odd ones."""

import dataclasses
from itertools import product

import numpy as np
import pytest

from ranking.analyses import pairs
from ranking.analyses.common import tabulated
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import to_elo
from ranking.numerics.strength_mode import StrengthMode
from tests.ranking.analyses.helpers import (
    duel,
    keys_of,
    make_columns,
    make_inputs,
    simulate,
    stored,
    table,
)


class TestPairs:
    def test_differences_are_those_of_the_fit_whatever_the_mode(self, rng):
        columns = simulate(rng)

        for mode in StrengthMode:
            inputs = make_inputs(columns, strength=mode)
            rows = table(pairs.analyse(inputs), "pairs")

            elo = to_elo(fit_bradley_terry(tabulated(columns, inputs.method).total()).log_strengths)
            rating = dict(zip(columns.systems, elo, strict=True))
            found = [row["difference"] for row in rows]
            expected = [rating[row["first"]] - rating[row["second"]] for row in rows]
            np.testing.assert_allclose(found, expected, atol=0.01)
            assert min(found) >= 0.0

    def test_counts_a_tie_as_half_a_win_and_sides_as_they_are(self):
        judged = [
            ("d1", 0, "x", "y", "r", 3, 1),
            ("d1", 0, "x", "y", "s", 0, 1),
            ("d2", 1, "x", "y", "r", -2, 1),
            ("d2", 1, "y", "x", "s", -4, -1),
            ("d3", 2, "y", "x", "s", 1, -1),
        ]

        (row,) = table(pairs.analyse(make_inputs(make_columns(judged))), "pairs")

        # Two wins each and a tie; those of x are the clearer.
        assert (row["first"], row["second"], row["n"]) == ("x", "y", 5)
        assert row["win_rate"] == row["expected"] == pytest.approx(0.5)

    def test_who_wins_less_often_but_clearly_is_ahead_and_the_page_says_how(self):
        findings = pairs.analyse(make_inputs(duel([5] * 4 + [-1] * 5)))

        (row,) = table(findings, "pairs")
        assert (row["first"], row["second"]) == ("a", "b")
        assert max(row["win_rate"], row["expected"]) < 0.5 < row["superiority"]
        [shown] = [one for one in findings.tables if one.key == "pairs"]
        assert "wins less often, but clearly, can be ahead" in shown.caption

    def test_intervals_hold_the_difference_and_agree_with_the_p_values_and_errors(self, rng):
        findings = pairs.analyse(make_inputs(simulate(rng, n_units=200)))

        rows = table(findings, "pairs")
        error = {row["system"]: row["error"] for row in table(findings, "errors")}
        for row in rows:
            assert row["low"] < row["difference"] < row["high"]
            assert row["p_holm"] >= row["p_false_discovery"]
            assert row["p_step_down"] < 0.1 or row["low"] < 0.0
            # Simultaneous intervals of six differences reach about 2.6 errors.
            reach = (row["high"] - row["low"]) / 2
            assert 2.1 < reach / np.hypot(error[row["first"]], error[row["second"]]) < 3.1
        assert rows[2]["low"] > 0.0  # the best against the worst of four

    def test_shares_of_a_pair_add_up_to_one_in_the_pictures(self, rng):
        findings = pairs.analyse(make_inputs(simulate(rng)))

        for key in ("superiority", "win-rate"):
            cells = {
                (row["system"], other): share
                for row in table(findings, key)
                for other, share in row.items()
                if other != "system" and share is not None
            }
            assert all(
                share + cells[other, one] == pytest.approx(1.0)
                for (one, other), share in cells.items()
            )
            assert len(cells) == 12

    def test_habits_of_evaluators_show_in_the_errors_for_other_evaluators(self, rng):
        columns = simulate(rng, n_units=200, theta=np.zeros(3))
        # Each evaluator has a favourite of its own.
        favoured = (columns.first == columns.evaluator % 3) * 1 - (
            columns.second == columns.evaluator % 3
        )
        stubborn = dataclasses.replace(columns, strength=5 * favoured)

        rows = table(pairs.analyse(make_inputs(stubborn)), "evaluators")

        assert all(row["by_both"] > 2 * row["by_dialogue"] for row in rows)

    def test_a_pair_that_never_met_has_no_win_rate_but_a_difference(self):
        judged = product((("a", "b"), ("b", "c")), (2, -1, 3, 1))
        rows = [(f"d{n}", n, *pair, "r", strength, 1) for n, (pair, strength) in enumerate(judged)]

        found = table(pairs.analyse(make_inputs(make_columns(rows))), "pairs")

        apart = next(row for row in found if {row["first"], row["second"]} == {"a", "c"})
        assert (apart["n"], apart["win_rate"]) == (0, None)
        assert apart["difference"] > 0.0

    def test_systems_that_never_lose_have_no_expected_win_rate_and_a_warning(self):
        findings = pairs.analyse(make_inputs(duel([2, 3] * 3)))

        assert table(findings, "pairs")[0]["expected"] is None
        assert any("whole wins" in warning for warning in findings.warnings)

    def test_many_systems_are_shown_as_far_as_one_reads(self, rng, monkeypatch):
        monkeypatch.setattr(pairs, "MOST_SYSTEMS", 2)

        findings = pairs.analyse(make_inputs(simulate(rng)))

        assert [len(one.rows) for one in findings.tables] == [1, 2, 2, 2, 2]
        assert any("2 best of 4" in warning for warning in findings.warnings)

    def test_dialogues_that_all_agree_are_no_proof(self):
        findings = pairs.analyse(make_inputs(duel([3] * 3)))

        (row,) = table(findings, "pairs")
        assert (row["low"], row["high"]) == (None, None)
        assert row["p_step_down"] == row["p_holm"] == row["p_false_discovery"] == 0.25
        assert findings.warnings[0].startswith("Only 3 source dialogues")

    def test_two_dialogues_and_one_rater_are_enough(self):
        findings = pairs.analyse(make_inputs(duel([3, -2])))

        assert stored(findings) == findings
        assert keys_of(findings) == ["pairs", "superiority", "win-rate"]
