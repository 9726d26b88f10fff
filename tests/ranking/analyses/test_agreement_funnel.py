"""The funnel of evaluators: limits by hand, and whom they find."""

from math import sqrt

import pytest

from ranking.analyses import analyse
from ranking.findings import ColumnKind, Picture
from tests.ranking.analyses.helpers import make_columns, make_inputs, simulate, table

PEOPLE = ("p", "q", "r", "s", "t")


def written(answers, judges=()):
    """Write out what each evaluator said of each pair: one mapping for each pair."""
    rows = [
        (f"d{item:03d}", item, "a", "b", who, strength, 1)
        for item, said in enumerate(answers)
        for who, strength in said.items()
    ]
    return make_columns(rows, judges=judges)


def funnel(columns, key="funnel-1"):
    return table(analyse("AGREEMENT", make_inputs(columns)), key)


def keys(columns):
    return {one.key for one in analyse("AGREEMENT", make_inputs(columns)).tables}


def swung(n=100, wrong=20):
    """All five say "first", each alone in the wrong now and then, t more often than the others."""
    answers = [dict.fromkeys(PEOPLE, 2) for _ in range(n)]
    for place, who in enumerate(PEOPLE):
        for item in range(wrong if who == "t" else 5):
            answers[(place * 20 + item) % n][who] = -2
    return written(answers)


def test_shares_are_of_answers_held_against_most_of_the_others():
    rows = {row["evaluator"]: row for row in funnel(swung())}

    assert [rows[who]["x"] for who in PEOPLE] == [100] * 5
    assert [rows[who]["y"] for who in PEOPLE] == [0.95] * 4 + [0.8]
    assert {row["centre"] for row in rows.values()} == {0.92}


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


def test_equal_evaluators_stay_inside_in_most_cases(rng):
    columns = simulate(rng, n_units=300, n_raters=40, n_judges=0, per_pair=5)

    rows = funnel(columns)

    inside = [row["low"] <= row["y"] <= row["high"] for row in rows]
    assert len(rows) == 40
    assert sum(inside) >= 35


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
    assert not any(key.startswith("funnel") for key in keys(written(answers)))


def test_rows_are_about_evaluators_so_that_people_are_kept_from_the_public():
    findings = analyse("AGREEMENT", make_inputs(swung()))
    (drawn,) = (one for one in findings.tables if one.key == "funnel-1")

    assert drawn.picture is Picture.FUNNEL
    assert drawn.columns[0].kind is ColumnKind.EVALUATOR
