"""Ties and grades side by side, on made-up studies and on odd ones."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ranking.analyses import analyse, draws
from ranking.findings import AnalysisRefusedError, Findings
from ranking.numerics.bradley_terry import NotConvergedError, fit_bradley_terry
from ranking.numerics.elo import to_elo
from ranking.numerics.strength_mode import StrengthMode
from tests.ranking.analyses.helpers import make_columns, make_inputs, simulate, table

WAYS = ["soft", "multiply", "ignore", "drop", "davidson", "rao_kupper", "cumulative"]


def judgment(first, second, strength, *, unit="d1", item=0, evaluator="r1", shown=1):
    return (unit, item, first, second, evaluator, strength, shown)


class TestStudies:
    def test_rates_every_system_under_every_way(self, rng):
        findings = analyse("DRAWS", make_inputs(simulate(rng)))

        systems, ranks = table(findings, "systems"), table(findings, "ranks")
        for rows in (systems, ranks):
            assert [row["system"] for row in rows] == [f"system-{n}" for n in range(4)]
        for key in WAYS:
            assert [row[f"rank_{key}"] for row in ranks] == [1, 2, 3, 4]
            assert np.mean([row[f"elo_{key}"] for row in systems]) == pytest.approx(1500, abs=0.1)

    def test_lists_the_best_of_the_board_first(self, rng):
        findings = analyse("DRAWS", make_inputs(simulate(rng, theta=(-0.9, 0.8, -0.2, 0.3))))

        for key in ("systems", "ranks"):
            found = [row["system"] for row in table(findings, key)]
            assert found == ["system-1", "system-3", "system-2", "system-0"]

    def test_no_table_is_wider_than_a_page(self, rng):
        tables = analyse("DRAWS", make_inputs(simulate(rng))).tables

        assert max(len(one.columns) for one in tables) <= 1 + len(WAYS)

    def test_soft_scores_shrink_and_strengths_as_counts_stretch_the_scale(self, rng):
        ways = table(analyse("DRAWS", make_inputs(simulate(rng))), "ways")

        spread = dict(zip(WAYS, [row["spread"] for row in ways], strict=True))
        assert spread["soft"] < spread["ignore"] < spread["multiply"]

    def test_the_model_that_made_the_grades_finds_where_they_begin(self, rng):
        columns = simulate(rng, n_units=400)

        grades = table(analyse("DRAWS", make_inputs(columns)), "grades")

        begins = [row["begins"] / 173.7178 for row in grades]
        np.testing.assert_allclose(begins, [0.0, 0.4, 1.1, 2.0], atol=0.06)
        assert sum(row["judgments"] for row in grades) == columns.n_judgments
        assert sum(row["share"] for row in grades) == pytest.approx(1.0, abs=1e-3)

    def test_log_likelihoods_are_those_of_a_plain_count(self, rng):
        columns = simulate(rng)
        wins = np.zeros((4, 4))
        for one, other, strength in zip(
            columns.first, columns.second, columns.strength, strict=True
        ):
            if strength:
                wins[(one, other) if strength > 0 else (other, one)] += 1
        theta = fit_bradley_terry(wins).log_strengths
        p = 1 / (1 + np.exp(theta[None, :] - theta[:, None]))

        ways = table(analyse("DRAWS", make_inputs(columns)), "ways")

        dropped = ways[WAYS.index("drop")]
        assert dropped["decided"] == pytest.approx((wins * np.log(p)).sum() / wins.sum(), abs=1e-4)
        assert dropped["with_ties"] is None
        assert ways[0]["decided"] is None
        # It maximises this very likelihood, so nothing of the same form can be above it.
        same_form = [ways[WAYS.index(key)]["decided"] for key in ("ignore", "davidson")]
        assert dropped["decided"] >= max(same_form)
        assert {row["turned"] for row in ways} == {0}

    def test_the_board_is_that_of_the_fits_own_mode(self, rng):
        columns = simulate(rng)

        findings = analyse("DRAWS", make_inputs(columns, strength=StrengthMode.IGNORE))

        wins = np.zeros((4, 4))
        first, second, sign = columns.first, columns.second, np.sign(columns.strength)
        np.add.at(wins, (first, second), (1 + sign) / 2)
        np.add.at(wins, (second, first), (1 - sign) / 2)
        elo = to_elo(fit_bradley_terry(wins).log_strengths)
        found = [row["elo_ignore"] for row in table(findings, "systems")]
        np.testing.assert_allclose(found, elo, atol=0.005)

    def test_says_when_the_first_place_depends_on_the_way(self):
        # "a" wins often and by little, "b" now and then and by far.
        rows = [judgment("a", "b", 1)] * 6 + [judgment("a", "b", -5)] * 4

        findings = analyse("DRAWS", make_inputs(make_columns(rows)))

        firsts = dict(zip(WAYS, [row["first"] for row in table(findings, "ways")], strict=True))
        assert (firsts["soft"], firsts["ignore"]) == ("b", "a")
        assert any("first place depends" in warning for warning in findings.warnings)
        assert table(findings, "ways")[2]["turned"] == 1

    def test_is_stored_and_read_again_unchanged(self, rng):
        findings = analyse("DRAWS", make_inputs(simulate(rng)))

        stored = json.loads(json.dumps(findings.as_json(), allow_nan=False))

        assert Findings.of(stored) == findings
        assert findings.is_exploratory


class TestOddStudies:
    def test_without_ties_the_models_of_ties_are_those_without(self):
        rows = [judgment("a", "b", 3)] * 3 + [judgment("a", "b", -3)] * 2

        findings = analyse("DRAWS", make_inputs(make_columns(rows)))

        ways = table(findings, "ways")
        assert {row["ties_between_equals"] for row in ways[4:]} == {0.0}
        spreads = {row["spread"] for row in ways[2:]}
        assert max(spreads) - min(spreads) < 0.02
        assert any("no ties" in warning for warning in findings.warnings)

    def test_with_nothing_but_ties_only_the_halves_have_ratings(self):
        rows = [judgment("a", "b", 0)] * 3

        findings = analyse("DRAWS", make_inputs(make_columns(rows)))

        assert [row["spread"] for row in table(findings, "ways")] == [0.0] * 3 + [None] * 4
        assert len([w for w in findings.warnings if "no ratings" in w]) == 4

    def test_a_system_that_never_loses_has_ratings_under_soft_scores_alone(self):
        rows = [judgment("a", "b", 4)] * 3

        findings = analyse("DRAWS", make_inputs(make_columns(rows)))

        spreads = [row["spread"] for row in table(findings, "ways")]
        assert spreads[0] is not None
        assert spreads[1:] == [None] * 6

    def test_refuses_when_the_board_itself_has_no_ratings(self):
        rows = [judgment("a", "b", 4)] * 3

        with pytest.raises(AnalysisRefusedError, match="board"):
            analyse("DRAWS", make_inputs(make_columns(rows), strength=StrengthMode.IGNORE))

    def test_refuses_groups_that_never_met(self):
        rows = [judgment("a", "b", 1), judgment("c", "d", -1)]

        with pytest.raises(AnalysisRefusedError, match="board"):
            analyse("DRAWS", make_inputs(make_columns(rows)))

    def test_refuses_no_judgments(self, rng):
        none = simulate(rng).taken(np.empty(0, dtype=int))

        with pytest.raises(AnalysisRefusedError, match="no judgments"):
            analyse("DRAWS", make_inputs(none))

    def test_refuses_a_system_alone(self, rng):
        columns = simulate(rng)

        with pytest.raises(AnalysisRefusedError, match="only one system"):
            analyse("DRAWS", make_inputs(replace(columns, systems=("system-0",))))

    def test_a_search_that_does_not_end_leaves_its_way_out_and_says_so(self, rng, monkeypatch):
        def give_up(*args, **kwargs):
            raise NotConvergedError

        monkeypatch.setattr(draws, "fit_davidson", give_up)

        findings = analyse("DRAWS", make_inputs(simulate(rng)))

        assert table(findings, "ways")[WAYS.index("davidson")]["spread"] is None
        assert any("the search did not end" in warning for warning in findings.warnings)

    def test_declared_masses_weigh_in_every_way(self, rng):
        """Judges without any mass to speak of might as well not have judged."""
        columns = simulate(rng)
        people = columns.taken(np.flatnonzero(~columns.is_judge[columns.evaluator]))

        weighed, alone = (
            table(analyse("DRAWS", inputs), "systems")
            for inputs in (make_inputs(columns, masses=(1.0, 1e-9)), make_inputs(people))
        )

        for one, other in zip(weighed, alone, strict=True):
            assert one == pytest.approx(other, abs=0.02)
