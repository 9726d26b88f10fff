"""Boards by dimension, on simulated marks and on odd ones."""

import dataclasses
import json

import numpy as np
import pytest

from ranking.analyses import dimensions
from ranking.findings import AnalysisRefusedError, Findings, Picture
from ranking.numerics.strength_mode import StrengthMode
from tests.ranking.analyses.helpers import make_columns, make_inputs, simulate, table

ONE_DIALOGUE = [("d", 0, "a", "b", "r", 1, 1), ("d", 1, "b", "a", "r", 1, 1)]


def found_in(marks, **kwargs):
    inputs = make_inputs(next(iter(marks.values()), None), **kwargs)
    return dimensions.analyse(dataclasses.replace(inputs, dimensions=marks))


class TestDimensions:
    def test_each_dimension_has_a_board_of_its_own(self, rng):
        up, down = (simulate(rng, theta=theta) for theta in ((1.0, 0.0, -1.0), (-1.0, 0.0, 1.0)))

        findings = found_in({"Warm tone": up, "Attunement": down})

        assert [one.key for one in findings.tables] == ["dimensions", "1-warm-tone", "2-attunement"]
        best = [table(findings, key)[0]["system"] for key in ("1-warm-tone", "2-attunement")]
        assert best == ["system-0", "system-2"]

    def test_a_board_says_how_sure_it_is_and_of_how_many_marks(self, rng):
        columns = simulate(rng, n_units=60)

        rows = table(found_in({"Warmth": columns}), "1-warmth")

        assert sum(row["n"] for row in rows) == 2 * columns.n_judgments
        for place, row in enumerate(rows, start=1):
            assert row["low"] <= row["value"] <= row["high"]
            assert row["rank_low"] <= place <= row["rank_high"]

    def test_the_overview_has_the_same_figures(self, rng):
        findings = found_in({"Warmth": simulate(rng)})

        overview = {row["system"]: row["warmth"] for row in table(findings, "dimensions")}

        assert overview == {row["system"]: row["value"] for row in table(findings, "1-warmth")}

    def test_three_dimensions_make_a_radar_of_the_same_figures_with_a_ring_at_the_mean(self, rng):
        findings = found_in({name: simulate(rng) for name in ("Warmth", "Care", "Tact")})

        overview, radar = findings.tables[:2]
        assert (radar.key, radar.picture, radar.rows) == ("radar", Picture.RADAR, overview.rows)
        assert [one.mark for one in radar.columns] == [None, 1500.0, 1500.0, 1500.0]
        assert "never the areas" in radar.caption

    def test_a_dimension_that_cannot_be_rated_does_not_stop_the_others(self, rng):
        findings = found_in({"Warmth": simulate(rng), "Safety": make_columns(ONE_DIALOGUE)})

        assert [one.key for one in findings.tables] == ["dimensions", "1-warmth"]
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

    def test_refuses_where_nothing_was_marked(self):
        with pytest.raises(AnalysisRefusedError, match="No judgment marks"):
            found_in({})

    def test_refuses_with_the_reasons_where_nothing_can_be_rated(self):
        with pytest.raises(AnalysisRefusedError, match="Safety is not rated: All judgments"):
            found_in({"Safety": make_columns(ONE_DIALOGUE)})

    def test_findings_survive_being_stored(self, rng):
        findings = found_in({"Warmth": simulate(rng)})

        stored = json.loads(json.dumps(findings.as_json(), allow_nan=False))

        assert Findings.of(stored) == findings
        assert findings.is_exploratory
