"""The funnel of pairs: what is outside is what is off, and chance keeps the rest inside."""

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest
import scipy

from ranking.analyses import analyse
from ranking.findings import Picture
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.strength_mode import StrengthMode
from tests.ranking.analyses.helpers import make_columns, make_inputs, simulate, table

WIDE = (1.0, 0.7, 0.4, 0.1, -0.2, -0.5, -0.8, -1.1)


def found_in(columns, **kwargs):
    return analyse("CHECKS", make_inputs(columns, strength=StrengthMode.IGNORE, **kwargs))


def is_outside(row):
    return not row["low"] <= row["y"] <= row["high"]


def twice(columns: JudgmentColumns) -> JudgmentColumns:
    """Return every judgment two times over, in the same dialogue."""
    rows = ("unit", "item", "first", "second", "evaluator", "strength", "shown")
    again: Any = {name: np.tile(getattr(columns, name), 2) for name in rows}
    return replace(columns, **again)


def test_a_pair_is_outside_where_its_residual_is_beyond_the_quantile(rng):
    found = found_in(simulate(rng, theta=WIDE, n_units=80))

    rows, heat = table(found, "funnel"), {r["system"]: r for r in table(found, "residuals")}
    edge = scipy.stats.t.ppf(0.975, 79)
    assert len(rows) == 28
    for row in rows:
        z = heat[row["first"]][row["second"]]
        if abs(abs(z) - edge) > 0.01:  # figures are rounded
            assert is_outside(row) == (abs(z) > edge), row


def test_limits_are_so_many_errors_of_as_many_judgments(rng):
    rows = table(found_in(simulate(rng, theta=WIDE, n_units=80)), "funnel")

    spread = {round(row["high"] * sqrt(row["x"]), 2) for row in rows}
    assert max(spread) - min(spread) <= 0.02
    ratio = scipy.stats.t.ppf(0.999, 79) / scipy.stats.t.ppf(0.975, 79)
    for row in rows:
        assert row["outer_high"] == pytest.approx(ratio * row["high"], rel=1e-2)
        assert (row["low"], row["outer_low"]) == (-row["high"], -row["outer_high"])
        assert row["centre"] == 0.0


def test_chance_keeps_as_many_pairs_inside_as_the_caption_says():
    rows = [
        row
        for seed in range(30)
        for row in table(
            found_in(simulate(np.random.default_rng(seed), theta=WIDE, n_units=100)), "funnel"
        )
    ]

    assert np.mean([is_outside(row) for row in rows]) == pytest.approx(0.05, abs=0.02)


def test_a_circle_is_out_of_line(rng):
    rows = []
    for unit in range(40):
        for number, (first, second) in enumerate((("a", "b"), ("b", "c"), ("c", "a"))):
            strength = 3 if rng.random() < 0.75 else -3
            rows.append((f"d{unit:02d}", 3 * unit + number, first, second, "r", strength, 1))

    found = table(found_in(make_columns(rows)), "funnel")

    assert len(found) == 3
    assert all(is_outside(row) for row in found)


def test_the_same_judgments_twice_tell_no_more(rng):
    columns = simulate(rng, theta=WIDE, n_units=60)

    once, again = (table(found_in(one), "funnel") for one in (columns, twice(columns)))

    for one, other in zip(once, again, strict=True):
        assert other["n"] == 2 * one["n"]
        assert other["high"] == pytest.approx(one["high"], abs=2e-4)
        assert other["y"] == pytest.approx(one["y"], abs=2e-4)


def test_the_better_rated_system_comes_first(rng):
    found = found_in(simulate(rng, theta=WIDE, n_units=80))

    order = [row["system"] for row in table(found, "systems")]
    for row in table(found, "funnel"):
        assert order.index(row["first"]) < order.index(row["second"])


def test_of_many_systems_the_best_are_shown(rng):
    theta = np.linspace(2.0, -2.0, 45)
    found = found_in(simulate(rng, theta=theta, n_units=200, pairs_per_unit=8))

    shown = {row[key] for row in table(found, "funnel") for key in ("first", "second")}
    assert shown <= {row["system"] for row in table(found, "systems")[:40]}


def test_two_systems_have_no_funnel():
    rows = [(f"d{n}", n, "a", "b", "r", 3 if n % 4 else -3, 1) for n in range(20)]

    assert "funnel" not in {one.key for one in found_in(make_columns(rows)).tables}


def test_is_drawn_as_a_funnel(rng):
    (drawn,) = (one for one in found_in(simulate(rng)).tables if one.key == "funnel")

    assert drawn.picture is Picture.FUNNEL
