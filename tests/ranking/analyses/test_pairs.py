"""System against system, and how far the model explains them: studies made up and odd ones."""

import dataclasses
from itertools import product
from math import sqrt

import numpy as np
import pytest
import scipy
from scipy import special

from ranking.analyses import analyse, checks, pairs
from ranking.analyses.common import tabulated
from ranking.findings import Picture
from ranking.numerics.elo import to_elo
from ranking.numerics.simultaneous import effective_units
from ranking.numerics.strength_mode import StrengthMode
from tests.ranking.analyses.helpers import (
    duel,
    keys_of,
    make_columns,
    make_inputs,
    of_sizes,
    simulate,
    stored,
    table,
)
from tests.ranking.numerics.helpers import strengths_of


class TestPairs:
    def test_differences_are_those_of_the_fit_whatever_the_mode(self, rng):
        columns = simulate(rng)

        for mode in StrengthMode:
            inputs = make_inputs(columns, strength=mode)
            rows = table(pairs.analyse(inputs), "pairs")

            elo = to_elo(strengths_of(tabulated(columns, inputs.method)))
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

    @pytest.mark.parametrize("n_units", [15, 60])
    def test_other_evaluators_never_make_an_error_smaller(self, rng, n_units):
        """Evaluators who are alike: the difference of variances is below 0 half of the time."""
        rows = [
            row
            for _ in range(5)
            for row in table(
                pairs.analyse(make_inputs(simulate(rng, n_units=n_units))), "evaluators"
            )
        ]

        assert all(row["by_both"] >= row["by_dialogue"] for row in rows)
        assert any(row["by_both"] > row["by_dialogue"] for row in rows)

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

    def test_dialogues_of_any_size_that_all_agree_are_no_proof_either(self):
        """Refits of the same shares at other sizes differ by rounding, which is no spread."""
        said = {"ab": (3, 3, 3, -3), "bc": (3, 3, -3, 0), "ca": (-2, -2, -2, 1)}
        sizes = [1 + 7 * unit % 5 for unit in range(12)]
        columns, n = of_sizes(said, sizes=sizes), effective_units(np.array(sizes))

        rows = table(pairs.analyse(make_inputs(columns)), "pairs")

        assert {(row["low"], row["high"]) for row in rows} == {(None, None)}
        assert {row["p_holm"] for row in rows} == {float(f"{3 * 2.0 ** (1 - n):.3g}")}

    def test_two_dialogues_and_one_rater_are_enough(self):
        findings = pairs.analyse(make_inputs(duel([3, -2])))

        assert stored(findings) == findings
        assert keys_of(findings) == ["pairs", "superiority", "win-rate"]


class TestChecks:
    def test_of_judgments_made_by_the_model_raise_no_alarm(self, rng):
        found = found_in(simulate(rng, n_units=120))

        assert table(found, "deviance")[1]["p"] > 0.01
        assert not any("does not explain" in warning for warning in found.warnings)

    def test_of_a_circle_find_it(self, rng):
        """A beats B beats C beats A, three times in four."""
        rows = []
        for n in range(120):
            first, second = ("ab", "bc", "ca")[n % 3]
            strength = 3 if rng.random() < 0.75 else -3
            rows.append((f"d{n // 3:02d}", n, first, second, "r", strength, 1))

        found = found_in(make_columns(rows))

        assert table(found, "circles")[0]["circular"] == 1
        assert table(found, "circles")[0]["consistence"] == 0.0
        assert table(found, "deviance")[1]["p"] < 0.001
        assert any("does not explain" in warning for warning in found.warnings)
        worst = table(found, "pairs")[0]
        assert abs(worst["z"]) > 3
        assert worst["p"] < 0.05
        assert [is_outside(row) for row in table(found, "funnel")] == [True] * 3

    @pytest.mark.parametrize(("n_units", "is_told"), [(9, False), (10, True)])
    def test_raise_the_alarm_of_a_test_only_where_the_test_is_told(self, n_units, is_told):
        """Of five in a ring each beats the next two, in every dialogue."""
        rows = [
            (f"d{unit}", 10 * unit + n, *pair, "r", 3, 1)
            for unit in range(n_units)
            for n, pair in enumerate(zip("abcdeabcde", "bcdeacdeab", strict=True))
        ]

        found = found_in(make_columns(rows))

        assert (table(found, "deviance")[1]["p"] is not None) == is_told
        assert any("does not explain" in warning for warning in found.warnings) == is_told

    def test_show_residuals_that_turn_round_with_the_pair(self, rng):
        found = analyse("CHECKS", make_inputs(simulate(rng)))

        heat = {row["system"]: row for row in table(found, "residuals")}
        for one, row in heat.items():
            assert row[one] is None
            for other in heat:
                assert row[other] is None or row[other] == -heat[other][one]

    def test_predict_for_each_system_what_its_ratings_mean(self):
        """Two systems, 15 wins to 5: both rates are three quarters."""
        found = found_in(duel([3 if n % 4 else -3 for n in range(20)]))

        first = table(found, "systems")[0]
        assert (first["system"], first["x"], first["y"], first["n"]) == ("a", 0.75, 0.75, 20)
        assert table(found, "deviance") == table(found, "pairs") == []
        assert "funnel" not in keys_of(found)

    def test_expect_as_many_circles_as_equal_systems_make(self, rng):
        studies = (simulate(rng, theta=np.zeros(7), n_units=30, per_pair=3) for _ in range(60))
        rows = [table(checks.analyse(make_inputs(one)), "circles")[0] for one in studies]

        counted, expected = (sum(row[key] for row in rows) for key in ("circular", "expected"))

        # Of the ratings as they came out, spread by chance, a quarter fewer.
        assert expected == pytest.approx(counted, rel=0.08)

    def test_expect_circles_only_where_majorities_decide(self):
        """One judgment each way in the pair of a and c: no three is decided."""
        rows = [
            (f"d{unit}", 4 * unit + n, *pair, "r", 2, 1)
            for unit in range(3)
            for n, pair in enumerate(["ab", "bc", "ac", "ca"])
        ]

        found = analyse("CHECKS", make_inputs(make_columns(rows)))

        row = table(found, "circles")[0]
        assert (row["decided"], row["circular"], row["expected"]) == (0, 0, 0.0)

    def test_say_that_the_deviance_rests_on_some_dialogues(self, rng, monkeypatch):
        monkeypatch.setattr(checks, "MOST_UNITS", 20)

        found = analyse("CHECKS", make_inputs(simulate(rng)))

        assert any("Of 40 source dialogues 20" in warning for warning in found.warnings)

    def test_survive_ties_alone(self):
        rows = [(f"d{n}", n, "abc"[n % 3], "bca"[n % 3], "r", 0, 0) for n in range(12)]

        found = analyse("CHECKS", make_inputs(make_columns(rows)))

        assert table(found, "circles")[0]["decided"] == 0
        assert table(found, "deviance")[1]["p"] is None


def test_a_soft_share_is_what_the_strength_says_and_draws_ratings_together():
    """A pair without ties won 3 to 1 at strength 2 is .65 and .35; whole wins stay .75."""
    taken = 0.75 * 0.65 + 0.25 * 0.35

    columns = duel([2 if n % 4 else -2 for n in range(8)])
    soft, whole = analyse("CHECKS", make_inputs(columns)), found_in(columns)

    first = table(soft, "systems")[0]
    assert (first["x"], first["y"]) == pytest.approx((taken, 0.75), abs=1e-4)
    slope = special.logit(0.75) / special.logit(taken)
    assert any(f"{slope:.2f} times as far apart" in warning for warning in soft.warnings)
    assert not any("times as far apart" in warning for warning in whole.warnings)


WIDE = (1.0, 0.7, 0.4, 0.1, -0.2, -0.5, -0.8, -1.1)


def found_in(columns, **kwargs):
    return analyse("CHECKS", make_inputs(columns, strength=StrengthMode.IGNORE, **kwargs))


def is_outside(row):
    return not row["low"] <= row["y"] <= row["high"]


def test_a_pair_is_outside_where_its_residual_is_beyond_the_quantile(rng):
    found = found_in(simulate(rng, theta=WIDE, n_units=80))

    rows, heat = table(found, "funnel"), {r["system"]: r for r in table(found, "residuals")}
    order = [row["system"] for row in table(found, "systems")]
    edge = scipy.stats.norm.ppf(0.975)
    assert len(rows) == 28
    for row in rows:
        assert order.index(row["first"]) < order.index(row["second"])
        z = heat[row["first"]][row["second"]]
        if abs(abs(z) - edge) > 0.01:  # figures are rounded
            assert is_outside(row) == (abs(z) > edge), row


def test_limits_are_so_many_errors_of_as_many_judgments(rng):
    found = found_in(simulate(rng, theta=WIDE, n_units=80))

    (drawn,) = (one for one in found.tables if one.key == "funnel")
    rows = table(found, "funnel")
    spread = {round(row["high"] * sqrt(row["x"]), 2) for row in rows}
    assert drawn.picture is Picture.FUNNEL
    assert max(spread) - min(spread) <= 0.02
    ratio = scipy.stats.norm.ppf(0.999) / scipy.stats.norm.ppf(0.975)
    for row in rows:
        assert row["outer_high"] == pytest.approx(ratio * row["high"], rel=1e-2)
        assert (row["low"], row["outer_low"]) == (-row["high"], -row["outer_high"])
        assert row["centre"] == 0.0


def test_one_pair_in_twenty_is_outside_where_the_ratings_are_right():
    """Twenty dialogues, each pair judged in some eleven: by t quantiles 2.5 % were outside."""
    rng = np.random.default_rng(3)
    layout = {"theta": np.linspace(0.5, -0.5, 6), "n_units": 20, "pairs_per_unit": 12}
    studies = (simulate(rng, **layout, per_pair=3) for _ in range(100))

    rows = [row for one in studies for row in table(found_in(one), "funnel")]

    assert np.mean([is_outside(row) for row in rows]) == pytest.approx(0.05, abs=0.015)


def test_a_pair_has_a_p_value_where_it_was_judged_in_ten_dialogues_itself(rng):
    """One pair in twelve dialogues, the others in nine of them."""
    said = rng.choice([-3, 3], size=36).tolist()
    rows = [
        (f"d{n:02d}", 3 * n + k, *pair, "r", said[3 * n + k], 1)
        for n in range(12)
        for k, pair in enumerate(("ab", "bc", "ca"))
        if k == 0 or n % 4
    ]

    found = table(found_in(make_columns(rows)), "pairs")

    told = {"".join(sorted(row["first"] + row["second"])): row["p"] for row in found}
    assert {pair: p is not None for pair, p in told.items()} == {
        "ab": True,
        "bc": False,
        "ac": False,
    }


def test_judgments_are_counted_whatever_they_weigh(rng):
    columns = simulate(rng, n_units=60)

    one, other = (
        {(row["first"], row["second"]): row["n"] for row in table(found, "funnel")}
        for found in (found_in(columns), found_in(columns, masses=(0.9, 0.1)))
    )

    assert {key: one.get(key, one.get(key[::-1])) for key in other} == other
    assert sum(other.values()) == columns.n_judgments


def test_of_many_systems_the_best_are_shown(rng):
    theta = np.linspace(2.0, -2.0, 45)
    found = found_in(simulate(rng, theta=theta, n_units=200, pairs_per_unit=8))

    shown = {row[key] for row in table(found, "funnel") for key in ("first", "second")}
    assert shown <= {row["system"] for row in table(found, "systems")[:40]}
