"""Strict and lenient judges, on made-up studies and on odd ones."""

from dataclasses import replace

import numpy as np
import pytest

from ranking.analyses import analyse, raters
from ranking.findings import AnalysisRefusedError
from tests.ranking.analyses.helpers import make_columns, make_inputs, simulate, table
from tests.ranking.numerics.helpers import give_up


def evaluators(columns):
    rows = table(analyse("RATERS", make_inputs(columns)), "evaluators")
    return {row["evaluator"]: row for row in rows}


def with_answers(columns, name, strength):
    """Give one evaluator other answers, from a callable of the old ones."""
    of = columns.evaluator == columns.evaluators.index(name)
    changed = columns.strength.copy()
    changed[of] = strength(columns.strength[of])
    return replace(columns, strength=changed)


def shuffled_among_evaluators(rng, columns):
    """Deal the answers to each pair out anew: evaluators are exchangeable by construction."""
    dealt = columns.strength.copy()
    for item in range(columns.n_items):
        rows = np.flatnonzero(columns.item == item)
        dealt[rows] = columns.strength[rng.permutation(rows)]
    return replace(columns, strength=dealt)


class TestStudies:
    def test_names_each_evaluator_with_kind_and_count(self, rng):
        columns = simulate(rng)

        found = evaluators(columns)

        assert sorted(found) == sorted(columns.evaluators)
        assert found["r00"]["kind"] == "person"
        assert found["z-judge-1"]["kind"] == "LLM judge"
        assert sum(row["judgments"] for row in found.values()) == columns.n_judgments

    def test_lists_the_most_reliable_and_the_best_first(self, rng):
        columns = simulate(rng, theta=(-0.9, 0.8, -0.2, 0.3), n_units=150)

        findings = analyse("RATERS", make_inputs(with_answers(columns, "r02", lambda old: -old)))

        rows = table(findings, "evaluators")
        reliability = [row["reliability"] for row in rows]
        assert reliability == sorted(reliability, reverse=True)
        assert rows[-1]["evaluator"] == "r02"
        assert [row["rank"] for row in table(findings, "systems")] == [1, 2, 3, 4]

    def test_tells_a_random_and_a_turned_evaluator_from_the_others(self, rng):
        columns = simulate(rng, n_units=150, theta=(1.5, 0.5, -0.5, -1.5), n_raters=8)
        columns = with_answers(columns, "r02", lambda old: -old)
        columns = with_answers(
            columns, "r05", lambda old: rng.permutation([-2, 2] * len(old))[: len(old)]
        )

        found = evaluators(columns)

        usual = [row["reliability"] for name, row in found.items() if name not in ("r02", "r05")]
        assert found["r02"]["reliability"] < 0.3
        assert 0.3 < found["r05"]["reliability"] < 0.7
        assert min(usual) > 0.75
        assert found["r02"]["accuracy"] < found["r05"]["accuracy"] < found["r00"]["accuracy"]
        assert min(found[name]["highest"] for name in ("r02", "r05")) > raters.ALARM

    def test_tells_who_calls_many_ties(self, rng):
        columns = simulate(rng, n_units=100)
        columns = with_answers(columns, "r03", lambda old: np.where(np.abs(old) == 1, 0, old))

        found = evaluators(columns)

        assert found["r03"]["severity"] > 2 * found["r03"]["severity_error"]
        assert found["r03"]["ties_between_equals"] > 2 * found["r00"]["ties_between_equals"]
        assert found["r03"]["tie_share"] > 2 * found["r00"]["tie_share"]

    def test_few_false_alarms_where_evaluators_are_exchangeable(self, rng):
        alarms = 0
        for _ in range(25):
            columns = simulate(rng, n_units=30, n_raters=5, n_judges=0, per_pair=5)
            _, highest = raters._evidence(shuffled_among_evaluators(rng, columns))
            alarms += (highest >= raters.ALARM).sum()

        # At most 5 % however often one looks; 12 of 125 would be three deviations above.
        assert alarms <= 12

    def test_a_person_is_held_against_people_alone(self, rng):
        columns = simulate(rng, n_raters=2, n_judges=4, per_pair=6)

        found = evaluators(columns)

        # Two people: of two answers that differ neither is the outlier.
        assert found["r00"]["evidence"] is None
        assert found["z-judge-0"]["evidence"] is not None


class TestOddStudies:
    def test_one_judgment_and_nothing_but_ties_leave_figures_open(self):
        one = evaluators(make_columns([("d", 0, "a", "b", "r1", 3, 1)]))["r1"]
        ties = evaluators(make_columns([("d", n, "a", "b", f"r{n % 3}", 0, 1) for n in range(6)]))

        assert one["reliability"] is not None
        assert (one["accuracy"], one["evidence"]) == (None, None)
        assert {(row["reliability"], row["tie_share"]) for row in ties.values()} == {(None, 1.0)}

    def test_one_evaluator_has_nobody_to_be_compared_with(self):
        rows = [("d", n, "a", "b", "judge", 2 - n, -1) for n in range(5)]

        findings = analyse("RATERS", make_inputs(make_columns(rows, judges=("judge",))))

        assert [row["kind"] for row in table(findings, "evaluators")] == ["LLM judge"]
        assert "no fault" in findings.warnings[0]
        assert any("one evaluator" in warning for warning in findings.warnings)

    def test_islands_do_not_matter(self):
        rows = [("d", 0, "a", "b", "r1", 3, 1), ("d", 1, "c", "e", "r2", 3, 1)]

        assert len(table(analyse("RATERS", make_inputs(make_columns(rows))), "systems")) == 4

    def test_an_answer_given_twice_counts_once_as_evidence(self, rng):
        columns = simulate(rng, n_units=10)
        again = columns.taken(np.tile(np.arange(columns.n_judgments), 2))

        once, twice = (raters._evidence(one)[1] for one in (columns, again))

        np.testing.assert_allclose(twice, once)

    def test_an_answer_given_twice_is_not_the_answer_of_several(self):
        rows = [(f"d{n}", n, "a", "b", "r1", 2 * (-1) ** n, 1) for n in (0, 1, 2)]

        found = evaluators(make_columns(rows + rows))

        assert found["r1"]["accuracy"] is None

    def test_evidence_that_no_number_holds_is_shown_all_the_same(self):
        rows = [
            (f"d{n % 9}", n, "a", "b", f"r{who}", -2 if who == 4 else 2, 1)
            for n in range(900)
            for who in range(5)
        ]

        findings = analyse("RATERS", make_inputs(make_columns(rows)))

        last = table(findings, "evaluators")[-1]
        assert (last["evaluator"], last["evidence"]) == ("r4", raters.MOST_EVIDENCE)

    def test_refuses_when_a_search_does_not_end(self, rng, monkeypatch):
        monkeypatch.setattr(raters, "fit_crowd", give_up)

        with pytest.raises(AnalysisRefusedError, match="did not end"):
            analyse("RATERS", make_inputs(simulate(rng)))
