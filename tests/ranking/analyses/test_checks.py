"""The checks of the model as readers see them, and the funnel of its pairs."""

from math import sqrt

import numpy as np
import pytest
import scipy
from scipy import special

from ranking.analyses import analyse, checks
from ranking.findings import Picture
from ranking.numerics.strength_mode import StrengthMode
from tests.ranking.analyses.helpers import (
    circle,
    duel,
    keys_of,
    make_columns,
    make_inputs,
    simulate,
    table,
)


class TestChecks:
    def test_of_judgments_made_by_the_model_raise_no_alarm(self, rng):
        found = found_in(simulate(rng, n_units=120))

        assert table(found, "deviance")[1]["p"] > 0.01
        assert not any("does not explain" in warning for warning in found.warnings)

    def test_of_a_circle_find_it(self, rng):
        found = found_in(circle(rng))

        assert table(found, "circles")[0]["circular"] == 1
        assert table(found, "circles")[0]["consistence"] == 0.0
        assert table(found, "deviance")[1]["p"] < 0.001
        assert any("does not explain" in warning for warning in found.warnings)
        worst = table(found, "pairs")[0]
        assert abs(worst["z"]) > 3
        assert worst["p"] < 0.05
        assert [is_outside(row) for row in table(found, "funnel")] == [True] * 3

    def test_say_by_how_much_soft_scores_draw_ratings_together(self, rng):
        """Whole wins imply larger differences than soft scores show, as in the published table."""
        columns = simulate(rng, n_units=120)

        soft, whole = analyse("CHECKS", make_inputs(columns)), found_in(columns)

        assert any("times as far apart" in warning for warning in soft.warnings)
        assert not any("times as far apart" in warning for warning in whole.warnings)
        first = table(soft, "systems")[0]
        assert first["y"] > first["x"] > 0.5

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


def test_a_soft_share_is_what_the_strength_says():
    """The check of the scale: a tie-free pair won 3 to 1 at strength 2 is .65 and .35."""
    taken = 0.75 * 0.65 + 0.25 * 0.35

    found = analyse("CHECKS", make_inputs(duel([2 if n % 4 else -2 for n in range(8)])))

    assert table(found, "systems")[0]["x"] == pytest.approx(taken, abs=1e-4)
    slope = special.logit(0.75) / special.logit(taken)
    assert any(f"{slope:.2f} times" in warning for warning in found.warnings)


WIDE = (1.0, 0.7, 0.4, 0.1, -0.2, -0.5, -0.8, -1.1)


def found_in(columns, **kwargs):
    return analyse("CHECKS", make_inputs(columns, strength=StrengthMode.IGNORE, **kwargs))


def is_outside(row):
    return not row["low"] <= row["y"] <= row["high"]


def test_a_pair_is_outside_where_its_residual_is_beyond_the_quantile(rng):
    found = found_in(simulate(rng, theta=WIDE, n_units=80))

    rows, heat = table(found, "funnel"), {r["system"]: r for r in table(found, "residuals")}
    order = [row["system"] for row in table(found, "systems")]
    edge = scipy.stats.t.ppf(0.975, 79)
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
    ratio = scipy.stats.t.ppf(0.999, 79) / scipy.stats.t.ppf(0.975, 79)
    for row in rows:
        assert row["outer_high"] == pytest.approx(ratio * row["high"], rel=1e-2)
        assert (row["low"], row["outer_low"]) == (-row["high"], -row["outer_high"])
        assert row["centre"] == 0.0


def test_of_many_systems_the_best_are_shown(rng):
    theta = np.linspace(2.0, -2.0, 45)
    found = found_in(simulate(rng, theta=theta, n_units=200, pairs_per_unit=8))

    shown = {row[key] for row in table(found, "funnel") for key in ("first", "second")}
    assert shown <= {row["system"] for row in table(found, "systems")[:40]}
