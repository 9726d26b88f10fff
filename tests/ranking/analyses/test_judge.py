"""Judges held to people: boards side by side, what is saved, and who foretells the majority."""

from dataclasses import replace

import numpy as np
import pytest

from ranking.analyses import analyse, judged_pairs
from ranking.findings import AnalysisRefusedError, ColumnKind, Picture
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import to_elo
from tests.ranking.analyses.helpers import (
    MadeUpSources,
    facts_of,
    keys_of,
    make_columns,
    make_inputs,
    simulate,
    table,
)
from tests.ranking.numerics import peers


def made_up(rng, *, share=0.5, **kwargs):
    """Simulate a study in which all evaluators see each pair, people only a part of them."""
    settings = {"n_units": 60, "pairs_per_unit": 5, "n_raters": 3, "n_judges": 2, "per_pair": 5}
    columns = simulate(rng, **settings | kwargs)
    is_kept = rng.random(columns.n_items) < share
    by_judge = columns.is_judge[columns.evaluator]
    return columns.taken(np.flatnonzero(by_judge | is_kept[columns.item]))


def leaning(columns, rows):
    """Return for each pair whether more of these judgments prefer its first or its second."""
    found = np.zeros(columns.n_items)
    np.add.at(found, columns.item[rows], np.sign(columns.strength[rows]))
    return found


class TestBoards:
    def test_people_alone_are_the_fit_of_the_pairs_that_they_judged(self, rng):
        columns = made_up(rng)
        wins, by_people = np.zeros((4, 4)), ~columns.is_judge[columns.evaluator]
        for item in np.unique(columns.item[by_people]):
            rows = by_people & (columns.item == item)
            first, second = columns.first[rows][0], columns.second[rows][0]
            sizes = np.abs(columns.strength[rows])
            won = np.where(sizes == 0, 0.5, 0.45 + 0.1 * sizes)
            share = np.where(columns.strength[rows] < 0, 1 - won, won).mean()
            wins[first, second] += share
            wins[second, first] += 1 - share

        rows = table(analyse("JUDGE", make_inputs(columns)), "boards")

        found = {row["system"]: row["people"] for row in rows}
        elo = to_elo(fit_bradley_terry(wins).log_strengths)
        np.testing.assert_allclose([found[slug] for slug in columns.systems], elo, atol=0.01)

    def test_are_sorted_and_lie_inside_their_intervals(self, rng):
        findings = analyse("JUDGE", make_inputs(made_up(rng)))

        rows = table(findings, "boards")
        assert [row["rank"] for row in rows] == [1, 2, 3, 4]
        assert [row["system"] for row in rows] == [f"system-{n}" for n in range(4)]
        for side in ("", "people_", "judges_"):
            middle = {"": "value", "people_": "people", "judges_": "judges"}[side]
            for row in rows:
                assert row[f"{side}low"] < row[middle] < row[f"{side}high"]
        (drawn,) = (one for one in findings.tables if one.key == "boards")
        assert drawn.picture is Picture.WHISKERS

    def test_judges_that_see_what_people_see_narrow_the_intervals(self, rng):
        findings = analyse("JUDGE", make_inputs(made_up(rng, share=0.3, n_units=100, length=4.0)))

        rows = table(findings, "boards")
        reach, alone = (
            sum(row[f"{side}high"] - row[f"{side}low"] for row in rows) for side in ("", "people_")
        )
        assert reach < alone
        saved = table(findings, "saved")[0]
        assert saved["power"] > 0
        assert saved["times"] > 1
        assert saved["pairs"] == 500
        assert saved["effective"] == round(saved["times"] * saved["double"], 0)
        assert saved["saved"] == saved["effective"] - saved["double"] > 0

    def test_where_people_judged_all_pairs_the_judges_add_nothing(self, rng):
        columns = made_up(rng, share=1.0, n_units=30, thresholds=(0.0, 1.1, 2.0))

        findings = analyse("JUDGE", make_inputs(columns))

        saved = table(findings, "saved")[0]
        assert (saved["power"], saved["times"], saved["saved"]) == (0.0, 1.0, 0)
        assert all(row["value"] == row["people"] for row in table(findings, "boards"))
        assert table(findings, "accuracy")[0]["n"] == columns.n_items
        warnings = " ".join(findings.warnings)
        assert "judges can add nothing" in warnings
        assert "Only 30 source dialogues" in warnings
        assert "majority" not in warnings  # every pair has one

    def test_says_when_people_were_given_other_pairs(self, rng):
        columns = made_up(rng, share=1.0, n_units=100)
        decided = np.zeros(columns.n_items)
        by_judge = columns.is_judge[columns.evaluator]
        np.add.at(decided, columns.item[by_judge], columns.strength[by_judge])
        hard = np.abs(decided) < np.median(np.abs(decided))
        chosen = columns.taken(np.flatnonzero(by_judge | hard[columns.item]))
        by_chance = made_up(rng, share=0.5, n_units=100)

        warned, calm = (analyse("JUDGE", make_inputs(one)).warnings for one in (chosen, by_chance))

        assert any("no random sample" in warning for warning in warned)
        assert not any("no random sample" in warning for warning in calm)


class TestCalibration:
    def test_accuracy_of_the_plain_majority_is_a_plain_count(self, rng):
        columns = made_up(rng, n_judges=3, per_pair=6)
        by_judge = columns.is_judge[columns.evaluator]
        people, judges = leaning(columns, ~by_judge), leaning(columns, by_judge)
        decided, both = people != 0, (people != 0) & (judges != 0)

        findings = analyse("JUDGE", make_inputs(columns))

        plain = table(findings, "accuracy")[1]
        right = peers.accuracy_score(people[both] > 0, judges[both] > 0, normalize=False)
        right += 0.5 * (decided & (judges == 0)).sum()
        assert plain["n"] == decided.sum()
        assert plain["accuracy"] == pytest.approx(right / decided.sum(), abs=1e-4)
        assert plain["low"] < plain["accuracy"] < plain["high"]
        gain = table(findings, "gain")[0]["gain"]
        calibrated = table(findings, "accuracy")[0]["accuracy"]
        assert gain == pytest.approx(calibrated - plain["accuracy"], abs=2e-4)

    def test_learns_which_judge_to_believe(self, rng):
        columns = made_up(rng, n_units=100, n_judges=2)
        # One judge answers at random and loudly, so that the majority follows it.
        noisy = columns.evaluator == columns.evaluators.index("z-judge-1")
        strength = np.where(noisy, rng.choice([-5, 5], columns.n_judgments), columns.strength)

        findings = analyse("JUDGE", make_inputs(replace(columns, strength=strength)))

        calibrated, plain = table(findings, "accuracy")
        assert calibrated["accuracy"] > plain["accuracy"]
        assert calibrated["brier"] < plain["brier"]
        assert calibrated["correlation"] > plain["correlation"]
        brier = table(findings, "gain")[1]
        assert brier["high"] < 0
        assert brier["p"] < 0.05

    def test_judges_that_answer_at_random_foretell_nothing(self, rng):
        columns = made_up(rng, n_units=200, share=1.0)
        by_judge = columns.is_judge[columns.evaluator]
        strength = np.where(by_judge, rng.integers(-3, 4, len(by_judge)), columns.strength)

        findings = analyse("JUDGE", make_inputs(replace(columns, strength=strength, features=None)))

        row = table(findings, "accuracy")[0]
        assert row["low"] < 0.5 < row["high"]
        assert row["brier"] == pytest.approx(0.25, abs=0.01)

    def test_a_gain_alike_in_all_dialogues_has_no_interval(self):
        won, sure = np.arange(60) % 2 == 0, np.full(60, 0.1)
        right = np.abs(won - sure)
        alike = judged_pairs.Foretold(np.arange(60), won, right, right, right, right, 0, 0)

        brier = judged_pairs.accuracy_table(alike, 0.95).rows[0][5:8]
        gains = judged_pairs.gain_table(alike, 0.95).rows

        assert brier == (0.01, None, None)
        assert [one[1:4] for one in gains] == [(0.0, None, None)] * 2

    def test_the_curve_is_drawn_over_all_pairs_with_the_diagonal(self, rng):
        findings = analyse("JUDGE", make_inputs(made_up(rng, n_units=100)))

        curve = next(one for one in findings.tables if one.key == "calibration")
        kinds = {column.key: column.kind for column in curve.columns}
        rows = table(findings, "calibration")
        assert (curve.picture, kinds["x"], kinds["y"]) == (Picture.POINTS, *[ColumnKind.SHARE] * 2)
        assert sum(row["n"] for row in rows) == table(findings, "accuracy")[0]["n"]
        assert [row["x"] for row in rows] == sorted(row["x"] for row in rows)
        assert 0.5 <= rows[0]["x"] <= rows[-1]["x"] <= 1.0
        assert all(row["low"] <= row["y"] <= row["high"] for row in rows)

    def test_knows_the_probabilities_of_the_judges(self, rng):
        columns = made_up(rng, n_units=100)
        by_judge = columns.is_judge[columns.evaluator]
        people = leaning(columns, ~by_judge)
        # They tell what people say, though the verdicts do not.
        probability = np.where(by_judge, 0.5 + 0.1 * np.sign(people[columns.item]), np.nan)
        told = MadeUpSources(of_judgments=facts_of(columns, probability=probability))

        without, found = (
            table(analyse("JUDGE", make_inputs(columns, sources=one)), "accuracy")[0]["accuracy"]
            for one in (None, told)
        )

        assert without < 0.9
        assert found == 1.0

    def test_knows_length_and_position(self, rng):
        columns = made_up(rng, n_units=100, length=8.0, theta=(0.0, 0.0, 0.0))
        deaf = replace(
            columns, strength=np.where(columns.is_judge[columns.evaluator], 0, columns.strength)
        )
        blind = replace(deaf, features=np.full_like(deaf.features, np.nan))

        with_length, without = (
            table(analyse("JUDGE", make_inputs(one)), "accuracy")[0]["accuracy"]
            for one in (deaf, blind)
        )

        assert with_length > 0.75
        assert without < 0.65

    def test_says_that_pairs_without_a_majority_are_left_out(self, rng):
        findings = analyse("JUDGE", make_inputs(made_up(rng)))

        assert any("no majority are left out" in warning for warning in findings.warnings)


class TestOddStudies:
    @pytest.mark.parametrize(
        ("wanted", "reason"),
        [(False, "No LLM judge"), (True, "No person")],
        ids=["people", "judges"],
    )
    def test_evaluators_of_one_kind_are_refused(self, rng, wanted, reason):
        columns = made_up(rng)
        rows = np.flatnonzero(columns.is_judge[columns.evaluator] == wanted)

        with pytest.raises(AnalysisRefusedError, match=reason):
            analyse("JUDGE", make_inputs(columns.taken(rows)))

    def test_few_pairs_judged_by_both_are_refused(self, rng):
        with pytest.raises(AnalysisRefusedError, match=r"judged \d pairs in \d source .*; 50"):
            analyse("JUDGE", make_inputs(made_up(rng, share=0.01)))

    def test_systems_that_people_never_compared_are_refused(self, rng):
        columns = made_up(rng)
        by_judge = columns.is_judge[columns.evaluator]
        met = (columns.first == 0) | (columns.second == 0)

        with pytest.raises(AnalysisRefusedError, match="does not connect"):
            analyse("JUDGE", make_inputs(columns.taken(np.flatnonzero(by_judge | ~met))))

    def test_a_correction_beyond_all_shares_is_refused(self):
        # The first always wins with people; with judges it loses there, and wins elsewhere.
        rows = []
        for item in range(2000):
            unit, more = f"d{item:04d}", int(item % 5 == 0)
            rows.append((unit, item, "a", "b", "judge", (5 if item >= 60 else -5 + more), 1))
            if item < 60:
                rows.append((unit, item, "a", "b", "rater", 4 + more, 1))

        with pytest.raises(AnalysisRefusedError, match="too few to correct"):
            analyse("JUDGE", make_inputs(make_columns(rows, judges=("judge",))))

    def test_people_who_never_prefer_anything_leave_the_boards(self, rng):
        columns = made_up(rng)
        by_judge = columns.is_judge[columns.evaluator]
        ties = replace(columns, strength=np.where(by_judge, columns.strength, 0))

        findings = analyse("JUDGE", make_inputs(ties))

        assert keys_of(findings) == ["boards", "saved"]
        saved = table(findings, "saved")[0]
        assert (saved["power"], saved["times"], saved["saved"]) == (0.0, None, None)
        assert any("agree on too few pairs" in warning for warning in findings.warnings)

    def test_pairs_without_a_judge_are_left_out_and_counted(self, rng):
        columns = made_up(rng, share=1.0)
        by_judge = columns.is_judge[columns.evaluator]
        rows = np.flatnonzero(~by_judge | (columns.item >= 10))

        findings = analyse("JUDGE", make_inputs(columns.taken(rows)))

        assert any("10 pairs that no LLM judge" in warning for warning in findings.warnings)
        assert table(findings, "saved")[0]["pairs"] == 290

    def test_pairs_of_judges_alone_in_one_dialogue_are_not_held_against_the_others(self, rng):
        columns = made_up(rng, share=1.0)
        alone = (columns.unit == 0) & ~columns.is_judge[columns.evaluator]

        findings = analyse("JUDGE", make_inputs(columns.taken(np.flatnonzero(~alone))))

        saved = table(findings, "saved")[0]
        assert (saved["pairs"], saved["double"]) == (300, 295)
        assert not any("no random sample" in warning for warning in findings.warnings)
