"""Style held equal, on made-up studies and on odd ones."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ranking.analyses import analyse
from ranking.findings import AnalysisRefusedError, Findings
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import to_elo
from ranking.numerics.strength_mode import StrengthMode
from tests.ranking.analyses.helpers import make_columns, make_inputs, simulate, table

LENGTH = "Length in characters, twice as long"
FIRST = "Shown in the first position"
ALONE = "Shown in the first position, style left as it is"


def coefficients(findings):
    return {row["covariate"]: row for row in table(findings, "coefficients")}


class TestStudies:
    def test_recovers_what_length_and_position_were_made_worth(self, rng):
        columns = simulate(rng, n_units=500, length=1.5, position=0.4)

        found = coefficients(analyse("STYLE", make_inputs(columns, strength=StrengthMode.IGNORE)))

        # Ties as halves shrink log odds a little, so the bounds are wide.
        assert np.log(found[LENGTH]["odds"]) == pytest.approx(1.5 / 3, abs=0.1)
        assert np.log(found[FIRST]["odds"]) == pytest.approx(0.4, abs=0.08)
        assert found[LENGTH]["odds_low"] > 1
        assert found[FIRST]["odds_low"] > 1
        points = 173.7178 * np.log(found[FIRST]["odds"])
        assert found[FIRST]["value"] == pytest.approx(points, abs=0.1)

    def test_finds_nothing_where_nothing_is(self, rng):
        found = coefficients(analyse("STYLE", make_inputs(simulate(rng, n_units=200))))

        for row in found.values():
            assert row["odds_low"] < 1 < row["odds_high"]
            assert row["low"] < 0 < row["high"]

    def test_a_system_that_only_writes_at_length_loses_its_lead(self, rng):
        columns = simulate(rng, n_units=300, theta=(0.0, 0.0, 0.0, 0.0), length=0.0)
        is_long = np.array([columns.first[columns.item == n][0] == 0 for n in range(1200)])
        is_second = np.array([columns.second[columns.item == n][0] == 0 for n in range(1200)])
        lengths = columns.features[..., 0] + 400.0 * np.stack([is_long, is_second], axis=1)
        longer = (lengths[:, 0] - lengths[:, 1]) / lengths.sum(axis=1)
        felt = 3.0 * longer[columns.item] + rng.logistic(size=columns.n_judgments)
        columns = replace(columns, features=lengths[..., None], strength=np.sign(felt).astype(int))

        boards = table(analyse("STYLE", make_inputs(columns)), "boards")

        row = next(row for row in boards if row["system"] == "system-0")
        assert row["plain_rank"] == 1
        assert row["plain"] - 1500 > 4 * abs(row["value"] - 1500)
        assert row["change"] == pytest.approx(row["value"] - row["plain"], abs=0.011)

    def test_the_board_as_judged_is_the_board(self, rng):
        columns = simulate(rng)
        mode = StrengthMode.SOFT
        findings = analyse("STYLE", make_inputs(columns, strength=mode))

        wins = np.zeros((4, 4))
        for one, other, strength in zip(
            columns.first, columns.second, columns.strength, strict=True
        ):
            share = 0.5 + np.sign(strength) * (0.1 * abs(strength) - 0.05)
            wins[one, other] += share
            wins[other, one] += 1 - share
        elo = to_elo(fit_bradley_terry(wins).log_strengths)
        plain = {row["system"]: row["plain"] for row in table(findings, "boards")}
        np.testing.assert_allclose([plain[slug] for slug in columns.systems], elo, atol=0.006)

    def test_says_that_style_may_be_part_of_what_helps(self, rng):
        findings = analyse("STYLE", make_inputs(simulate(rng)))

        assert "held equal here, not made unbiased" in findings.warnings[0]
        assert findings.is_exploratory

    def test_shows_position_with_and_without_style(self, rng):
        found = coefficients(analyse("STYLE", make_inputs(simulate(rng, position=0.5))))

        assert found[ALONE]["odds"] == pytest.approx(found[FIRST]["odds"], rel=0.1)

    def test_is_stored_and_read_again_unchanged(self, rng):
        findings = analyse("STYLE", make_inputs(simulate(rng)))

        stored = json.loads(json.dumps(findings.as_json(), allow_nan=False))

        assert Findings.of(stored) == findings


class TestOddStudies:
    def test_without_figures_position_alone_is_held_equal(self, rng):
        columns = replace(simulate(rng), features=None, feature_names=())

        findings = analyse("STYLE", make_inputs(columns))

        assert list(coefficients(findings)) == [FIRST]
        assert any("position alone" in warning for warning in findings.warnings)

    def test_without_sides_style_alone_is(self, rng):
        columns = simulate(rng)
        columns = replace(columns, shown=np.zeros_like(columns.shown))

        findings = analyse("STYLE", make_inputs(columns))

        assert list(coefficients(findings)) == [LENGTH]
        assert any("which side" in warning for warning in findings.warnings)

    def test_refuses_when_neither_is_known(self, rng):
        columns = simulate(rng)
        columns = replace(
            columns, shown=np.zeros_like(columns.shown), features=None, feature_names=()
        )

        with pytest.raises(AnalysisRefusedError, match="Nothing is known"):
            analyse("STYLE", make_inputs(columns))

    def test_figures_that_are_not_known_leave_their_judgments_out_and_say_so(self, rng):
        columns = simulate(rng)
        columns.features[3, 1] = np.nan

        findings = analyse("STYLE", make_inputs(columns))

        assert any(f"4 of {columns.n_judgments}" in warning for warning in findings.warnings)

    def test_figures_that_are_never_known_leave_position(self, rng):
        columns = simulate(rng)
        columns.features[:] = np.nan

        findings = analyse("STYLE", make_inputs(columns))

        assert list(coefficients(findings)) == [FIRST]

    def test_a_figure_that_is_the_same_throughout_is_left_out_and_said_so(self, rng):
        columns = simulate(rng)
        flat = np.concatenate([columns.features, np.zeros_like(columns.features)], axis=2)
        columns = replace(columns, features=flat, feature_names=("length", "list_items"))

        findings = analyse("STYLE", make_inputs(columns))

        assert list(coefficients(findings)) == [LENGTH, FIRST, ALONE]
        assert any("List items" in warning for warning in findings.warnings)

    def test_refuses_figures_that_are_one_and_the_same(self, rng):
        columns = simulate(rng)
        twice = np.repeat(columns.features, 2, axis=2)
        columns = replace(columns, features=twice, feature_names=("length", "sentences"))

        with pytest.raises(AnalysisRefusedError, match="do not determine"):
            analyse("STYLE", make_inputs(columns))

    def test_one_dialogue_gives_ratings_without_intervals(self):
        rows = [
            ("d1", n, "a", "b", f"r{n}", strength, shown)
            for n, (strength, shown) in enumerate([(2, 1), (-1, 1), (3, -1), (0, -1)])
        ]

        findings = analyse("STYLE", make_inputs(make_columns(rows)))

        assert [row["low"] for row in table(findings, "boards")] == [None, None]
        assert coefficients(findings)[FIRST]["high"] is None
        assert any("Only 1 source dialogues" in warning for warning in findings.warnings)

    def test_hard_wins_that_tell_everything_leave_the_odds_out(self):
        rows = [("d1", 0, "a", "b", "r1", 5, 1), ("d2", 1, "a", "b", "r1", 4, -1)]

        findings = analyse("STYLE", make_inputs(make_columns(rows)))

        assert coefficients(findings)[FIRST]["odds"] is None
        assert coefficients(findings)[FIRST]["value"] is not None

    def test_refuses_systems_that_never_met(self):
        rows = [("d1", 0, "a", "b", "r1", 5, 1), ("d2", 1, "c", "d", "r1", 4, -1)]

        with pytest.raises(AnalysisRefusedError, match="do not determine"):
            analyse("STYLE", make_inputs(make_columns(rows)))

    def test_declared_masses_weigh_in_both_boards(self, rng):
        """Judges without any mass to speak of might as well not have judged."""
        columns = simulate(rng)
        people = columns.taken(np.flatnonzero(~columns.is_judge[columns.evaluator]))

        weighed, alone = (
            table(analyse("STYLE", inputs), "boards")
            for inputs in (make_inputs(columns, masses=(1.0, 1e-9)), make_inputs(people))
        )

        for one, other in zip(weighed, alone, strict=True):
            assert one == pytest.approx(other, abs=0.02)
