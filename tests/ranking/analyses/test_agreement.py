"""Do evaluators agree, among themselves and with each other, and who is out of line."""

from collections import defaultdict
from itertools import combinations
from math import sqrt

import krippendorff
import numpy as np
import pytest

from ranking.analyses import analyse
from ranking.findings import ALL_JUDGES, AnalysisRefusedError, ColumnKind, Picture
from ranking.numerics.agreement.resampled import draw_times
from ranking.numerics.few_units import expanded_intervals
from tests.ranking.analyses.helpers import (
    MadeUpSources,
    keys_of,
    make_columns,
    make_inputs,
    row_of,
    simulate,
    stored,
    strata_of,
    table,
)
from tests.ranking.numerics import peers


def written(answers, *, judges=()):
    """Write a study of one pair in each dialogue: evaluators and their strengths, pair by pair."""
    rows = [
        (f"d{item:03d}", item, "a", "b", who, strength, 1)
        for item, said in enumerate(answers)
        for who, strength in (said.items() if isinstance(said, dict) else said)
    ]
    return make_columns(rows, judges=judges)


def coefficient(findings, panel, start):
    rows = table(findings, "coefficients")
    return next(r for r in rows if r["panel"] == panel and r["coefficient"].startswith(start))


@pytest.fixture
def columns(rng):
    return simulate(rng, n_units=40, n_raters=6, n_judges=3, per_pair=9)


class TestCoefficients:
    def test_are_those_of_a_plain_count(self, columns):
        findings = analyse("AGREEMENT", make_inputs(columns))

        said = defaultdict(list)
        for item, who, strength in zip(
            columns.item, columns.evaluator, columns.strength, strict=True
        ):
            if not columns.is_judge[who]:
                said[item].append(np.sign(strength))
        two = [a == b for own in said.values() for a, b in combinations(own, 2)]
        row = coefficient(findings, "people", "Raw")
        assert row["value"] == pytest.approx(np.mean(two), abs=1e-4)
        assert row["low"] < row["value"] < row["high"]
        assert findings.is_exploratory

    def test_agree_with_krippendorff_where_numbers_are_uneven(self, columns, rng):
        some = columns.taken(np.sort(rng.permutation(columns.n_judgments)[:800]))

        row = coefficient(
            analyse("AGREEMENT", make_inputs(some)), "people", "Krippendorff's alpha, ordinal"
        )

        people = ~some.is_judge[some.evaluator]
        data = np.full((len(some.evaluators), some.n_items), np.nan)
        data[some.evaluator[people], some.item[people]] = np.sign(some.strength[people])
        expected = krippendorff.alpha(data, level_of_measurement="ordinal")
        assert row["value"] == pytest.approx(expected, abs=5e-5)

    def test_of_each_dimension_are_told(self, columns):
        inputs = make_inputs(columns, dimensions={"hope": columns, "tone": columns})

        findings = analyse("AGREEMENT", inputs)

        rows = table(findings, "dimensions")
        assert [row["dimension"] for row in rows] == ["hope", "hope", "tone", "tone"]
        expected = coefficient(findings, "people", "Fleiss")["value"]
        assert rows[0]["fleiss"] == expected


class TestRepeatedAnswers:
    def test_are_one_opinion_and_nobody_agrees_with_himself(self):
        once = written([[("x", 2), ("y", -2)], [("x", 1), ("y", 1)]] * 5)
        twice = written([[("x", 2), ("x", 2), ("y", -2)], [("x", 1), ("y", 1), ("y", 1)]] * 5)

        one, other = (analyse("AGREEMENT", make_inputs(each)) for each in (once, twice))

        assert table(one, "coefficients") == table(other, "coefficients")
        assert coefficient(other, "people", "Raw")["value"] == 0.5
        assert any("repeat" in warning for warning in other.warnings)

    def test_that_contradict_each_other_are_a_tie(self):
        columns = written([[("x", 2), ("x", -2), ("y", 0)]] * 3)

        findings = analyse("AGREEMENT", make_inputs(columns))

        assert coefficient(findings, "people", "Raw")["value"] == 1.0


class TestJudges:
    def test_are_set_against_each_other_by_name_and_not_against_themselves(self, columns):
        findings = analyse("AGREEMENT", make_inputs(columns))

        names = ["z-judge-0", "z-judge-1", "z-judge-2"]
        rows = table(findings, "judges")
        assert [row["judge"] for row in rows] == names
        assert all(row[row["judge"]] is None for row in rows)
        assert rows[0][names[1]] == rows[1][names[0]]
        row = table(findings, "threes")[0]
        assert row["all"] + row["two"] + row["none"] == pytest.approx(1.0, abs=2e-4)
        by_key = {one.key: one for one in findings.tables}
        for key in ("majority", "ceiling"):
            assert by_key[key].columns[0].kind is ColumnKind.EVALUATOR
            assert {row[0] for row in by_key[key].rows} == {*names, ALL_JUDGES}
        trio, *_ = by_key["threes"].rows
        assert trio[:3] == tuple(names)
        assert [one.kind for one in by_key["threes"].columns[:3]] == [ColumnKind.EVALUATOR] * 3

    def test_that_say_what_people_say_agree_with_the_majority(self):
        answers = [[("p", s), ("q", s), ("r", -s), ("z", s)] for s in (1, -1, 2, -2)] * 6
        columns = written(answers, judges=("z",))

        findings = analyse("AGREEMENT", make_inputs(columns))

        row = table(findings, "majority")[0]
        assert (row["judge"], row["items"], row["value"]) == ("z", 24, 1.0)
        beside = table(findings, "ceiling")[0]
        # Only r faces others who are of one mind; p and q each face a tie of the two others.
        assert beside["comparisons"] == 24
        assert (beside["judge_share"], beside["person_share"], beside["value"]) == (1.0, 0.0, 1.0)

    def test_are_told_apart_by_stratum(self, columns):
        items = strata_of(columns, n_adversarial=10)
        inputs = make_inputs(columns, sources=MadeUpSources(of_items=items))

        rows = table(analyse("AGREEMENT", inputs), "majority")

        n = {row["stratum"]: row["items"] for row in rows if row["judge"] == "z-judge-0"}
        assert n["all pairs"] == n["regular contexts"] + n["adversarial contexts"]

    @pytest.mark.parametrize(("n_adversarial", "is_told"), [(1, False), (2, True)])
    def test_of_a_stratum_in_one_dialogue_have_no_interval(self, columns, n_adversarial, is_told):
        items = strata_of(columns, n_adversarial=n_adversarial)
        inputs = make_inputs(columns, sources=MadeUpSources(of_items=items))

        findings = analyse("AGREEMENT", inputs)

        cells = {"judge": ALL_JUDGES, "stratum": "adversarial contexts"}
        row = row_of(findings, "majority", **cells)
        assert row["items"] > 1
        assert (row["low"] is not None) == is_told

    def test_rarely_against_the_majority_have_the_interval_of_wilson(self):
        right, wrong = [("p", 1), ("q", 1), ("z", 1)], [("p", 1), ("q", 1), ("z", -1)]
        columns = written([right] * 57 + [wrong] * 3, judges=("z",))

        row = row_of(analyse("AGREEMENT", make_inputs(columns)), "majority", judge="z")

        ends = peers.proportion_confint(57, 60, method="wilson")
        # One of 60 is taken for the mean; percentiles end at 0.90 and 1.0.
        assert (row["low"], row["high"]) == pytest.approx(ends, abs=2e-3)

    def test_differ_from_people_within_the_interval_of_a_clustered_mean(self):
        people = [("p", 1), ("q", 1), ("r", 1)]
        alike, judge_errs = [*people, ("z", 1)], [*people, ("z", -1)]
        person_errs = [*people[:2], ("r", -1), ("z", 1)]
        answers = [alike] * 40 + [judge_errs] * 2 + [person_errs]

        findings = analyse("AGREEMENT", make_inputs(written(answers, judges=("z",))))

        row = row_of(findings, "ceiling", judge="z")
        beyond = np.array([0.0] * 120 + [-1.0] * 6 + [1.0])
        dialogue = np.array([*np.repeat(np.arange(42), 3), 42])
        peer = peers.OLS(beyond, np.ones(127)).fit(
            cov_type="cluster", cov_kwds={"groups": dialogue}, use_t=True
        )
        assert (row["low"], row["high"]) == pytest.approx(tuple(peer.conf_int()[0]), abs=1e-4)

    def test_whose_errors_are_in_few_dialogues_are_worth_what_few_tell(self):
        said = [(1, 1)] * 50 + [(-1, -1), (-1, 1), (1, -1)] * 2
        answers = [[("p", 1), ("q", 1), ("x", one), ("y", other)] for one, other in said]
        inputs = make_inputs(written(answers, judges=("x", "y")))

        row = table(analyse("AGREEMENT", inputs), "independence")[0]

        times = draw_times(len(said), 100, np.random.default_rng(inputs.method.seed))
        errors = (np.array(said) < 0).astype(float)
        with np.errstate(invalid="ignore"):
            drawn = [np.corrcoef(np.repeat(errors, one.astype(int), 0).T)[0, 1] for one in times]
        worth = 2.0 / (1.0 + np.maximum(np.array(drawn)[np.isfinite(drawn)], 0.0))
        ends = expanded_intervals(np.full(1, row["value"]), worth[:, None], n_units=6)
        assert row["low"] == pytest.approx(ends.low[0], abs=1e-4)
        assert row["low"] < np.quantile(worth, 0.025) - 0.02

    def test_who_err_together_are_counted_on_the_pairs_that_two_of_them_judged(self):
        both = [("p", 1), ("q", 1), ("x", 1), ("y", -1)]
        columns = written([both, both[:3], both[:2]] * 4, judges=("x", "y"))

        row = table(analyse("AGREEMENT", make_inputs(columns)), "independence")[0]

        assert row["items"] == 4

    def test_see_ambiguous_pairs_apart(self):
        clear, divided = [("p", 1), ("q", 1), ("z", 1)], [("p", 1), ("q", -1), ("z", 0)]
        findings = analyse("AGREEMENT", make_inputs(written([clear, divided] * 4, judges=("z",))))

        rows = {row["kind"]: row for row in table(findings, "ambiguous")}
        assert rows["most people prefer one side"]["ties"] == 0.0
        assert rows["people are divided"]["ties"] == 1.0
        assert rows["people are divided"]["items"] == 4

    def test_are_held_against_the_side_ahead_where_most_name_none(self):
        people = [("p", 1), ("q", 1), ("r", 0), ("s", 0), ("t", -1)]
        named, missed = [("z", 1)], [("z", -1)]
        columns = written([people + named] * 3 + [people + missed], judges=("z",))

        rows = {
            row["kind"]: row
            for row in table(analyse("AGREEMENT", make_inputs(columns)), "ambiguous")
        }

        assert rows["most do not"]["items"] == 4
        assert rows["most do not"]["ahead"] == 0.75
        assert rows["most people prefer one side"]["ahead"] is None

    def test_who_copy_each_other_are_worth_one(self):
        right, wrong = [(j, 1) for j in "xyz"], [(j, -1) for j in "xyz"]
        people = [("p", 1), ("q", 1)]
        columns = written([people + right, people + wrong] * 6, judges=tuple("xyz"))

        row = table(analyse("AGREEMENT", make_inputs(columns)), "independence")[0]

        assert (row["judges"], row["correlation"], row["value"]) == (3, 1.0, 1.0)


class TestSteadiness:
    def test_more_evaluators_agree_better_with_the_rest(self, rng):
        columns = simulate(rng, n_units=100, n_raters=9, n_judges=1, per_pair=10)

        rows = table(analyse("AGREEMENT", make_inputs(columns)), "steadiness")

        by_number = {row["x"]: row["people"] for row in rows}
        assert by_number[3] > by_number[1]


class TestOddStudies:
    def test_in_which_nothing_was_judged_twice_are_refused(self):
        columns = written([[("p", 1)], [("q", 1)]])

        with pytest.raises(AnalysisRefusedError, match="No pair was judged by two"):
            analyse("AGREEMENT", make_inputs(columns))

    def test_say_how_many_pairs_have_one_answer_alone(self):
        columns = written([[("p", 1), ("q", 1)]] * 3 + [[("p", 1)]] * 2)

        warnings = analyse("AGREEMENT", make_inputs(columns)).warnings

        assert "2 pairs have one answer alone and say nothing of agreement." in warnings

    @pytest.mark.parametrize(
        "answers",
        [
            pytest.param([[("p", 1), ("q", 1)]], id="one dialogue"),
            pytest.param([[("p", 0), ("q", 0), ("z", 0)]] * 3, id="ties alone"),
            pytest.param([[("p", 1), ("z", 1)]] * 3, id="one person, one judge"),
            pytest.param([[("z", 1), ("y", 1)]] * 3, id="judges alone"),
            pytest.param([[("p", 1), ("q", 1), ("z", 1), ("y", 1)]] * 3, id="no errors"),
        ],
    )
    def test_are_stored_without_figures_that_are_none(self, answers):
        columns = written(answers, judges=("y", "z"))

        findings = analyse("AGREEMENT", make_inputs(columns))

        assert stored(findings).as_json() == findings.as_json()


PEOPLE = ("p", "q", "r", "s", "t")


def funnel(columns, key="funnel-1"):
    return table(analyse("AGREEMENT", make_inputs(columns)), key)


def swung():
    """All five say "first", each alone in the wrong now and then, t more often than the others."""
    answers = [dict.fromkeys(PEOPLE, 2) for _ in range(100)]
    for place, who in enumerate(PEOPLE):
        for item in range(20 if who == "t" else 5):
            answers[place * 20 + item][who] = -2
    return written(answers)


def test_shares_are_of_answers_held_against_most_of_the_others():
    """The rows are about evaluators, so that people are kept from the public."""
    findings = analyse("AGREEMENT", make_inputs(swung()))

    rows = {row["evaluator"]: row for row in table(findings, "funnel-1")}
    assert [rows[who]["x"] for who in PEOPLE] == [100] * 5
    assert [rows[who]["y"] for who in PEOPLE] == [0.95] * 4 + [0.8]
    assert {row["centre"] for row in rows.values()} == {0.92}
    (drawn,) = (one for one in findings.tables if one.key == "funnel-1")
    assert (drawn.picture, drawn.columns[0].kind) == (Picture.FUNNEL, ColumnKind.EVALUATOR)


def test_limits_are_those_of_a_share_widened_by_how_far_evaluators_differ():
    rows = funnel(swung())

    error = sqrt(0.92 * 0.08 / 100)
    # With five, a tenth at each end is nobody: all scores count as they are.
    spread = (4 * (0.03 / error) ** 2 + (0.12 / error) ** 2) / 5
    for row in rows:
        assert row["low"] == pytest.approx(0.92 - 1.959964 * sqrt(spread) * error, abs=1e-4)
        assert row["high"] == 1.0
        assert row["outer_low"] == pytest.approx(0.92 - 3.090232 * sqrt(spread) * error, abs=1e-4)


def test_one_who_is_unlike_many_others_is_outside(rng):
    columns = simulate(rng, n_units=150, n_raters=20, n_judges=0, per_pair=5, theta=(1.5, -1.5))
    turned = columns.evaluator == 7
    columns.strength[turned] *= -1

    rows = funnel(columns)

    outside = [row["evaluator"] for row in rows if row["y"] < row["outer_low"]]
    assert outside == [columns.evaluators[7]]


def test_ties_have_no_part():
    answers = [dict.fromkeys(PEOPLE, 2) for _ in range(40)]
    for item in range(15):
        answers[item]["p"] = 0
    answers[20]["q"] = -2

    rows = {row["evaluator"]: row for row in funnel(written(answers))}

    assert (rows["p"]["x"], rows["p"]["y"]) == (25, 1.0)
    assert (rows["q"]["x"], rows["q"]["y"]) == (40, 0.975)


def test_people_and_judges_are_held_against_their_own_kind():
    judges = ("u", "v", "w", "x", "z")
    answers = [
        dict.fromkeys(PEOPLE, 2) | dict.fromkeys(judges, -2) | ({"p": -2, "z": 2} if n < 3 else {})
        for n in range(30)
    ]
    columns = written(answers, judges=judges)

    people, said = funnel(columns), funnel(columns, "funnel-2")

    assert {row["evaluator"]: row["y"] for row in people} == dict.fromkeys(PEOPLE, 1.0) | {"p": 0.9}
    assert {row["evaluator"]: row["y"] for row in said} == dict.fromkeys(judges, 1.0) | {"z": 0.9}


@pytest.mark.parametrize(
    "answers",
    [
        [dict.fromkeys(PEOPLE, 2)] * 30,
        [dict.fromkeys(PEOPLE[:4], 2) | {"p": -2}] * 30,
        [dict.fromkeys(PEOPLE, 2) | {"p": -2}] * 9,
    ],
    ids=["all agree", "four evaluators", "nine answers"],
)
def test_there_is_none_where_nothing_can_be_said(answers):
    findings = analyse("AGREEMENT", make_inputs(written(answers)))

    assert not any(key.startswith("funnel") for key in keys_of(findings))
