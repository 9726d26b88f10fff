"""Boards by dimension and their composites, on simulated marks and on odd ones."""

import dataclasses
import json

import numpy as np
import pytest

from ranking.analyses import dimensions, weights
from ranking.analyses.common import tabulated
from ranking.analyses.weights import JointBoards, jointly_rated
from ranking.findings import AnalysisRefusedError, Picture
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import to_elo
from ranking.numerics.refits import draw_units
from ranking.numerics.simultaneous import effective_units
from ranking.numerics.strength_mode import StrengthMode
from tests.ranking.analyses.helpers import keys_of, make_columns, make_inputs, simulate, table

ONE_DIALOGUE = [("d", 0, "a", "b", "r", 1, 1), ("d", 1, "b", "a", "r", 1, 1)]


def inputs_of(marks, **kwargs):
    return make_inputs(next(iter(marks.values()), None), dimensions=marks, **kwargs)


def found_in(marks, **kwargs):
    return dimensions.analyse(inputs_of(marks, **kwargs))


class TestDimensions:
    def test_each_dimension_has_a_board_of_its_own(self, rng):
        up, down = (simulate(rng, theta=theta) for theta in ((1.0, 0.0, -1.0), (-1.0, 0.0, 1.0)))

        findings = found_in({"Warm tone": up, "Attunement": down})

        assert keys_of(findings) == ["dimensions", "1-warm-tone", "2-attunement"]
        best = [table(findings, key)[0]["system"] for key in ("1-warm-tone", "2-attunement")]
        assert best == ["system-0", "system-2"]

    def test_a_board_says_how_sure_it_is_and_the_overview_has_its_figures(self, rng):
        columns = simulate(rng, n_units=60)

        findings = found_in({"Warmth": columns})

        rows = table(findings, "1-warmth")
        assert sum(row["n"] for row in rows) == 2 * columns.n_judgments
        for place, row in enumerate(rows, start=1):
            assert row["low"] <= row["value"] <= row["high"]
            assert row["rank_low"] <= place <= row["rank_high"]
        overview = [(row["system"], row["warmth"]) for row in table(findings, "dimensions")]
        assert overview == [(row["system"], row["value"]) for row in rows]

    def test_three_dimensions_make_a_radar_of_the_same_figures_with_a_ring_at_the_mean(self, rng):
        findings = found_in({name: simulate(rng) for name in ("Warmth", "Care", "Tact")})

        overview, radar = findings.tables[:2]
        assert (radar.key, radar.picture, radar.rows) == ("radar", Picture.RADAR, overview.rows)
        assert [one.mark for one in radar.columns] == [None, 1500.0, 1500.0, 1500.0]
        assert "never the areas" in radar.caption

    def test_a_dimension_that_cannot_be_rated_does_not_stop_the_others(self, rng):
        findings = found_in({"Warmth": simulate(rng), "Safety": make_columns(ONE_DIALOGUE)})

        assert keys_of(findings) == ["dimensions", "1-warmth"]
        few, warning = findings.warnings
        assert few.startswith("Only 40 source dialogues")
        assert warning.startswith("Safety is not rated: All judgments are on one source dialogue")

    def test_a_system_without_marks_on_a_dimension_has_an_empty_cell_there(self, rng):
        wide, narrow = (simulate(rng, theta=np.zeros(n)) for n in (4, 3))

        rows = table(found_in({"Warmth": wide, "Safety": narrow}), "dimensions")

        assert {row["system"] for row in rows if row["safety"] is None} == {"system-3"}

    def test_marks_without_a_size_are_whole_wins(self, rng):
        columns = simulate(rng)
        plain = dataclasses.replace(columns, strength=np.sign(columns.strength))

        soft, whole = (
            table(found_in({"Warmth": plain}, strength=mode), "1-warmth")
            for mode in (StrengthMode.SOFT, StrengthMode.IGNORE)
        )

        assert soft == whole

    @pytest.mark.parametrize(
        ("marks", "reason"),
        [
            ({}, "No judgment marks"),
            ({"Safety": make_columns(ONE_DIALOGUE)}, "Safety is not rated: All judgments"),
        ],
        ids=["nothing marked", "one dialogue"],
    )
    def test_refuses_with_the_reasons_where_nothing_can_be_rated(self, marks, reason):
        with pytest.raises(AnalysisRefusedError, match=reason):
            found_in(marks)


def marked(rng, n_units=60, **kwargs):
    """Three dimensions that rank four systems differently."""
    truths = {"H": (0.8, 0.3, -0.2, -0.9), "E": (-0.5, 0.9, 0.0, -0.4), "A": (0.0, 0.1, 0.4, -0.5)}
    return {
        key: simulate(rng, theta=theta, n_units=n_units, **kwargs) for key, theta in truths.items()
    }


def boards_of(marks):
    return jointly_rated(marks, make_inputs(None).method)[0]


def rows_under(boards, **chosen):
    found = weights.weighed_boards(boards, chosen)
    keys = [column.key for column in found.columns]
    return {row[0]: dict(zip(keys, row, strict=True)) for row in found.rows}


class TestOneDimensionAlone:
    @pytest.mark.parametrize("key", ["H", "E", "A"])
    def test_is_the_board_of_that_dimension(self, rng, key):
        marks = marked(rng)
        own = dimensions.analyse(inputs_of(marks))
        place = list(marks).index(key) + 1

        rows = rows_under(boards_of(marks), **{key: 7.0})

        board = table(own, f"{place}-{key.lower()}")
        assert list(rows) == [one["system"] for one in board]
        for one in board:
            found = rows[one["system"]]
            for column in ("value", "low", "high"):
                assert found[column] == pytest.approx(one[column], abs=0.02)
            assert (found["rank_low"], found["rank_high"]) == (one["rank_low"], one["rank_high"])


class TestComposite:
    def test_is_what_a_bootstrap_of_the_composite_itself_gives(self, rng):
        """Each resample fitted anew on each dimension by Newton's method, then weighted."""
        marks = marked(rng, n_units=30)
        method = make_inputs(None).method
        chosen = {"H": 0.5, "E": 0.2, "A": 0.3}
        times = draw_units(30, method.replicates, np.random.default_rng(method.seed))

        def elo_of(columns, count):
            wins = tabulated(columns, method).weighted(count[None])[0]
            return to_elo(fit_bradley_terry(wins).log_strengths)

        direct = np.array(
            [sum(w * elo_of(marks[key], count) for key, w in chosen.items()) for count in times]
        )

        boards = boards_of(marks)
        ours = np.einsum("d,rdk->rk", [*chosen.values()], boards.ratings.replicates)
        np.testing.assert_allclose(ours, direct, atol=1e-5)

    def test_equal_weights_are_beside_and_gains_are_the_difference(self, rng):
        rows = rows_under(boards_of(marked(rng)), H=1.0, E=0.0, A=0.0)

        for row in rows.values():
            assert row["change"] == pytest.approx(row["value"] - row["equal"], abs=0.011)
            assert row["change_low"] <= row["change"] <= row["change_high"]
        assert sum(row["places"] for row in rows.values()) == 0
        assert any(row["places"] for row in rows.values())

    def test_in_two_tables_are_the_same_figures(self, rng):
        whole = weights.weighed_boards(boards_of(marked(rng)), {"H": 1.0, "E": 2.0})
        keys = [column.key for column in whole.columns]

        board, gained = weights.in_two(whole)

        assert [column.key for column in gained.columns][:4] == ["system", "value", "low", "high"]
        for row, one, other in zip(whole.rows, board.rows, gained.rows, strict=True):
            cells = dict(zip(keys, row, strict=True))
            assert one == tuple(cells[column.key] for column in board.columns)
            assert other[:2] == (cells["system"], cells["change"])

    def test_equal_weights_change_nothing(self, rng):
        rows = rows_under(boards_of(marked(rng)), H=2.0, E=2.0, A=2.0)

        for row in rows.values():
            assert row["value"] == row["equal"]
            assert (row["places"], row["change"]) == (0, 0.0)
            assert abs(row["change_low"]) < 1e-9
            assert (row["rank_low"], row["rank_high"]) == (
                row["equal_rank_low"],
                row["equal_rank_high"],
            )

    def test_is_the_same_from_what_was_stored(self, rng):
        boards = boards_of(marked(rng))
        stored = json.loads(json.dumps(boards.as_stored(), allow_nan=False))

        again = JointBoards.of(stored)

        assert (again.dimensions, again.systems) == (boards.dimensions, boards.systems)
        ours, theirs = (rows_under(one, H=1.0, E=2.0, A=0.5) for one in (boards, again))
        for slug, row in ours.items():
            assert theirs[slug] == pytest.approx(row, abs=0.03)

    def test_dialogues_that_a_dimension_has_no_marks_on_are_drawn_all_the_same(self, rng):
        marks = marked(rng)
        known = np.flatnonzero(marks["E"].unit < 45)
        marks["E"] = marks["E"].taken(known)

        boards = boards_of(marks)

        for n_units, one in zip(boards.ratings.n_units, marks.values(), strict=True):
            is_of = [(one.first == system) | (one.second == system) for system in range(4)]
            sizes = np.stack([np.bincount(one.unit[rows], minlength=60) for rows in is_of], axis=1)
            np.testing.assert_array_equal(n_units, effective_units(sizes))
        whole = boards_of(marked(np.random.default_rng(20260105)))
        np.testing.assert_allclose(boards.ratings.replicates[:, 0], whole.ratings.replicates[:, 0])


class TestAnalysis:
    def test_shows_equal_weights_and_what_weights_can_do(self, rng):
        findings = weights.analyse(inputs_of(marked(rng)))

        assert keys_of(findings) == ["equal", "sensitivity"]
        rows = table(findings, "sensitivity")
        first = [row["first"] for row in rows]
        assert first == sorted(first, reverse=True)
        assert sum(first) == pytest.approx(1.0, abs=1e-3)
        for row in rows:
            assert row["least"] <= row["most"]
            assert row["best"] <= row["worst"]
        assert "10,000 weights" in findings.tables[1].caption

    def test_a_dimension_that_cannot_be_rated_has_no_weight(self, rng):
        marks = marked(rng) | {"R": make_columns(ONE_DIALOGUE)}

        findings = weights.analyse(inputs_of(marks))

        assert findings.kept["dimensions"] == ["H", "E", "A"]
        assert any(one.startswith("R has no weight, for it is not") for one in findings.warnings)

    def test_a_system_without_marks_on_a_dimension_is_left_out_and_said(self, rng):
        marks = marked(rng) | {"R": simulate(rng, theta=np.zeros(3), n_units=60)}

        findings = weights.analyse(inputs_of(marks))

        systems = {row["system"] for row in table(findings, "equal")}
        assert systems == {"system-0", "system-1", "system-2"}
        assert any("left out: system-3." in one for one in findings.warnings)

    def test_few_dialogues_and_dimensions_on_two_scales_are_said(self, rng):
        marks = marked(rng, n_units=25)
        marks["E"] = dataclasses.replace(marks["E"], strength=np.sign(marks["E"].strength))

        findings = weights.analyse(inputs_of(marks))

        assert findings.warnings[0].startswith("Only 25 source dialogues")
        assert any("Marks have sizes on some dimensions" in one for one in findings.warnings)

    @pytest.mark.parametrize(
        ("marks", "reason"),
        [
            ({}, "No judgment marks"),
            ({"H": make_columns(ONE_DIALOGUE)}, "Fewer than two dimensions can be rated"),
        ],
        ids=["no marks", "one dialogue"],
    )
    def test_refuses_where_there_is_nothing_to_weigh(self, marks, reason):
        with pytest.raises(AnalysisRefusedError, match=reason):
            weights.analyse(inputs_of(marks))

    def test_refuses_dimensions_without_systems_in_common(self, rng):
        one = simulate(rng, theta=np.zeros(3))
        other = dataclasses.replace(simulate(rng, theta=np.zeros(3)), systems=("x", "y", "z"))

        with pytest.raises(AnalysisRefusedError, match="fewer than two systems in common"):
            weights.analyse(inputs_of({"H": one, "E": other}))
