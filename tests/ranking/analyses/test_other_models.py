"""Boards by other models: ties and grades side by side, and style held equal."""

from dataclasses import replace

import numpy as np
import pytest

from ranking.analyses import analyse, draws
from ranking.findings import AnalysisRefusedError
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import to_elo
from ranking.numerics.strength_mode import StrengthMode
from tests.ranking.analyses.helpers import make_columns, make_inputs, row_of, simulate, table
from tests.ranking.numerics.helpers import add_up, give_up

WAYS = ["soft", "multiply", "ignore", "drop", "davidson", "rao_kupper", "cumulative"]


def opinions(strengths):
    """One rater's opinions of one pair of a and b."""
    return make_columns([("d1", 0, "a", "b", "r1", strength, 1) for strength in strengths])


def counted(columns, share):
    return add_up(columns.first, columns.second, share, n_systems=4)


def ways_of(columns):
    rows = table(analyse("DRAWS", make_inputs(columns)), "ways")
    return dict(zip(WAYS, rows, strict=True))


class TestStudies:
    def test_rates_every_system_under_every_way_the_best_of_the_board_first(self, rng):
        findings = analyse("DRAWS", make_inputs(simulate(rng, theta=(-0.9, 0.8, -0.2, 0.3))))

        systems, ranks = table(findings, "systems"), table(findings, "ranks")
        for rows in (systems, ranks):
            found = [row["system"] for row in rows]
            assert found == ["system-1", "system-3", "system-2", "system-0"]
        for key in WAYS:
            assert [row[f"rank_{key}"] for row in ranks] == [1, 2, 3, 4]
            assert np.mean([row[f"elo_{key}"] for row in systems]) == pytest.approx(1500, abs=0.1)
        assert max(len(one.columns) for one in findings.tables) <= 1 + len(WAYS)

    def test_soft_scores_shrink_and_strengths_as_counts_stretch_the_scale(self, rng):
        ways = ways_of(simulate(rng))

        assert ways["soft"]["spread"] < ways["ignore"]["spread"] < ways["multiply"]["spread"]

    def test_the_model_that_made_the_grades_finds_where_they_begin(self, rng):
        columns = simulate(rng, n_units=400)

        grades = table(analyse("DRAWS", make_inputs(columns)), "grades")

        begins = [row["begins"] / 173.7178 for row in grades]
        np.testing.assert_allclose(begins, [0.0, 0.4, 1.1, 2.0], atol=0.06)
        assert sum(row["judgments"] for row in grades) == columns.n_judgments
        assert sum(row["share"] for row in grades) == pytest.approx(1.0, abs=1e-3)

    def test_log_likelihoods_are_those_of_a_plain_count(self, rng):
        columns = simulate(rng)
        decided = columns.taken(np.flatnonzero(columns.strength))
        wins = counted(decided, (1 + np.sign(decided.strength)) / 2)
        theta = fit_bradley_terry(wins).log_strengths
        p = 1 / (1 + np.exp(theta[None, :] - theta[:, None]))

        ways = ways_of(columns)

        dropped = ways["drop"]
        assert dropped["decided"] == pytest.approx((wins * np.log(p)).sum() / wins.sum(), abs=1e-4)
        assert (dropped["with_ties"], ways["soft"]["decided"]) == (None, None)
        # It maximises this very likelihood, so nothing of the same form can be above it.
        assert dropped["decided"] >= max(ways["ignore"]["decided"], ways["davidson"]["decided"])
        assert {row["turned"] for row in ways.values()} == {0}

    def test_the_board_is_that_of_the_fits_own_mode(self, rng):
        columns = simulate(rng)

        findings = analyse("DRAWS", make_inputs(columns, strength=StrengthMode.IGNORE))

        wins = counted(columns, (1 + np.sign(columns.strength)) / 2)
        elo = to_elo(fit_bradley_terry(wins).log_strengths)
        found = [row["elo_ignore"] for row in table(findings, "systems")]
        np.testing.assert_allclose(found, elo, atol=0.005)

    def test_says_when_the_first_place_depends_on_the_way(self):
        # "a" wins often and by little, "b" now and then and by far.
        findings = analyse("DRAWS", make_inputs(opinions([1] * 6 + [-5] * 4)))

        ways = dict(zip(WAYS, table(findings, "ways"), strict=True))
        assert (ways["soft"]["first"], ways["ignore"]["first"]) == ("b", "a")
        assert ways["ignore"]["turned"] == 1
        assert any("first place depends" in warning for warning in findings.warnings)


class TestOddStudies:
    def test_without_ties_the_models_of_ties_are_those_without(self):
        findings = analyse("DRAWS", make_inputs(opinions([3] * 3 + [-3] * 2)))

        ways = table(findings, "ways")
        assert {row["ties_between_equals"] for row in ways[4:]} == {0.0}
        spreads = {row["spread"] for row in ways[2:]}
        assert max(spreads) - min(spreads) < 0.02
        assert any("no ties" in warning for warning in findings.warnings)

    def test_with_nothing_but_ties_only_the_halves_have_ratings(self):
        findings = analyse("DRAWS", make_inputs(opinions([0] * 3)))

        assert [row["spread"] for row in table(findings, "ways")] == [0.0] * 3 + [None] * 4
        assert len([w for w in findings.warnings if "no ratings" in w]) == 4

    def test_a_system_that_never_loses_has_ratings_under_soft_scores_alone(self):
        columns = opinions([4] * 3)

        spreads = [way["spread"] for way in ways_of(columns).values()]

        assert spreads[0] is not None
        assert spreads[1:] == [None] * 6
        with pytest.raises(AnalysisRefusedError, match="board"):
            analyse("DRAWS", make_inputs(columns, strength=StrengthMode.IGNORE))

    def test_refuses_a_system_alone(self, rng):
        columns = simulate(rng)

        with pytest.raises(AnalysisRefusedError, match="only one system"):
            analyse("DRAWS", make_inputs(replace(columns, systems=("system-0",))))

    def test_a_search_that_does_not_end_leaves_its_way_out_and_says_so(self, rng, monkeypatch):
        monkeypatch.setattr(draws, "fit_davidson", give_up)

        findings = analyse("DRAWS", make_inputs(simulate(rng)))

        assert table(findings, "ways")[WAYS.index("davidson")]["spread"] is None
        assert any("the search did not end" in warning for warning in findings.warnings)


LENGTH = "Length in characters, twice as long"
FIRST = "Shown in the first position"
ALONE = "Shown in the first position, style left as it is"


def coefficients(findings):
    return {row["covariate"]: row for row in table(findings, "coefficients")}


class TestStyle:
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

    def test_a_system_that_only_writes_at_length_loses_its_lead(self, rng):
        columns = simulate(rng, n_units=300, theta=(0.0, 0.0, 0.0, 0.0), length=0.0)
        is_long = np.array([columns.first[columns.item == n][0] == 0 for n in range(1200)])
        is_second = np.array([columns.second[columns.item == n][0] == 0 for n in range(1200)])
        lengths = columns.features[..., 0] + 400.0 * np.stack([is_long, is_second], axis=1)
        longer = (lengths[:, 0] - lengths[:, 1]) / lengths.sum(axis=1)
        felt = 3.0 * longer[columns.item] + rng.logistic(size=columns.n_judgments)
        columns = replace(columns, features=lengths[..., None], strength=np.sign(felt).astype(int))

        row = row_of(analyse("STYLE", make_inputs(columns)), "boards", system="system-0")

        assert row["plain_rank"] == 1
        assert row["plain"] - 1500 > 4 * abs(row["value"] - 1500)
        assert row["change"] == pytest.approx(row["value"] - row["plain"], abs=0.011)

    def test_the_board_as_judged_is_the_board(self, rng):
        columns = simulate(rng)
        mode = StrengthMode.SOFT
        findings = analyse("STYLE", make_inputs(columns, strength=mode))

        share = np.sign(columns.strength) * (0.1 * np.abs(columns.strength) - 0.05)
        wins = counted(columns, 0.5 + share)
        elo = to_elo(fit_bradley_terry(wins).log_strengths)
        plain = {row["system"]: row["plain"] for row in table(findings, "boards")}
        np.testing.assert_allclose([plain[slug] for slug in columns.systems], elo, atol=0.006)

    def test_shows_position_with_and_without_style_and_calls_neither_unbiased(self, rng):
        findings = analyse("STYLE", make_inputs(simulate(rng, position=0.5)))

        found = coefficients(findings)
        assert found[ALONE]["odds"] == pytest.approx(found[FIRST]["odds"], rel=0.1)
        assert "held equal here, not made unbiased" in findings.warnings[0]


class TestStyleOfOddStudies:
    def test_without_figures_position_alone_is_held_equal(self, rng):
        columns = simulate(rng)
        without = replace(columns, features=None, feature_names=())
        never_known = replace(columns, features=np.full_like(columns.features, np.nan))

        plain, other = (analyse("STYLE", make_inputs(one)) for one in (without, never_known))

        assert list(coefficients(plain)) == list(coefficients(other)) == [FIRST]
        assert any("position alone" in warning for warning in plain.warnings)

    def test_without_sides_style_alone_is_and_without_either_nothing(self, rng):
        columns = simulate(rng)
        columns = replace(columns, shown=np.zeros_like(columns.shown))

        findings = analyse("STYLE", make_inputs(columns))

        assert list(coefficients(findings)) == [LENGTH]
        assert any("which side" in warning for warning in findings.warnings)
        with pytest.raises(AnalysisRefusedError, match="Nothing is known"):
            analyse("STYLE", make_inputs(replace(columns, features=None, feature_names=())))

    def test_figures_that_are_not_known_leave_their_judgments_out_and_say_so(self, rng):
        columns = simulate(rng)
        columns.features[3, 1] = np.nan

        findings = analyse("STYLE", make_inputs(columns))

        assert any(f"4 of {columns.n_judgments}" in warning for warning in findings.warnings)

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

        found = coefficients(analyse("STYLE", make_inputs(make_columns(rows))))

        assert found[FIRST]["odds"] is None
        assert found[FIRST]["value"] is not None

    def test_dialogues_that_are_all_alike_have_no_interval(self):
        rows = [(f"d{n // 2:02d}", n, "a", "b", "r", 2, (-1) ** n) for n in range(40)]

        findings = analyse("STYLE", make_inputs(make_columns(rows)))

        assert [row["low"] for row in table(findings, "boards")] == [None, None]
        assert [row["low"] for row in table(findings, "coefficients")] == [None]
        assert any("Only 20 source dialogues" in warning for warning in findings.warnings)
