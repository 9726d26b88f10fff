"""The checks of the model as readers see them."""

import json

import numpy as np
import pytest
from scipy import special

from ranking.analyses import analyse, checks
from ranking.findings import AnalysisRefusedError, Findings
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.strength_mode import StrengthMode
from tests.ranking.analyses.helpers import make_columns, make_inputs, simulate, table


def circle(rng, n_units=40):
    """A beats B beats C beats A, three times in four."""
    rows = []
    for unit in range(n_units):
        for number, (first, second) in enumerate((("a", "b"), ("b", "c"), ("c", "a"))):
            strength = 3 if rng.random() < 0.75 else -3
            rows.append((f"d{unit:02d}", 3 * unit + number, first, second, "r", strength, 1))
    return make_columns(rows)


class TestChecks:
    def test_of_judgments_made_by_the_model_raise_no_alarm(self, rng):
        inputs = make_inputs(simulate(rng, n_units=120), strength=StrengthMode.IGNORE)

        found = analyse("CHECKS", inputs)

        assert table(found, "deviance")[1]["p"] > 0.01
        assert not any("does not explain" in warning for warning in found.warnings)
        assert found.is_exploratory

    def test_of_a_circle_find_it(self, rng):
        found = analyse("CHECKS", make_inputs(circle(rng)))

        assert table(found, "circles")[0]["circular"] == 1
        assert table(found, "circles")[0]["consistence"] == 0.0
        assert table(found, "deviance")[1]["p"] < 0.001
        assert any("does not explain" in warning for warning in found.warnings)
        worst = table(found, "pairs")[0]
        assert abs(worst["z"]) > 3
        assert worst["p"] < 0.05

    def test_say_by_how_much_soft_scores_draw_ratings_together(self, rng):
        """Whole wins imply larger differences than soft scores show, as in the published table."""
        columns = simulate(rng, n_units=120)

        soft = analyse("CHECKS", make_inputs(columns))
        whole = analyse("CHECKS", make_inputs(columns, strength=StrengthMode.IGNORE))

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
        rows = [(f"d{n}", n, "a", "b", "r", 3 if n % 4 else -3, 1) for n in range(20)]
        inputs = make_inputs(make_columns(rows), strength=StrengthMode.IGNORE)

        found = analyse("CHECKS", inputs)

        first = table(found, "systems")[0]
        assert (first["system"], first["x"], first["y"], first["n"]) == ("a", 0.75, 0.75, 20)
        assert table(found, "deviance") == []
        assert table(found, "pairs") == []

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


KINDS = ("CHECKS", "FRAGILITY", "PLANNING", "RANKERS")


@pytest.mark.parametrize("kind", KINDS)
class TestEach:
    def test_can_be_stored_and_read_again(self, kind, rng):
        found = analyse(kind, make_inputs(simulate(rng)))

        stored = json.loads(json.dumps(found.as_json(), allow_nan=False))

        assert Findings.of(stored) == found
        for one in found.tables:
            assert {len(row) for row in one.rows} <= {len(one.columns)}
            assert one.caption

    def test_gives_the_same_answer_twice(self, kind, rng):
        inputs = make_inputs(simulate(rng))

        assert analyse(kind, inputs) == analyse(kind, inputs)

    def test_is_refused_without_judgments(self, kind):
        nothing = np.empty(0, dtype=np.int64)
        columns = JudgmentColumns((), (), (), np.empty(0, dtype=np.bool_), *(nothing,) * 7)

        with pytest.raises(AnalysisRefusedError, match="no judgments"):
            analyse(kind, make_inputs(columns))

    def test_is_refused_where_systems_cannot_be_compared(self, kind):
        rows = [("d1", 0, "a", "b", "r", 2, 1), ("d2", 1, "c", "d", "r", -2, 1)]

        with pytest.raises(AnalysisRefusedError, match="one scale"):
            analyse(kind, make_inputs(make_columns(rows)))

    def test_copes_with_one_dialogue(self, kind):
        """Refused in words, or answered; never an error."""
        inputs = make_inputs(
            make_columns([("d", 0, "a", "b", "r", 2, 1), ("d", 0, "a", "b", "s", -1, 1)])
        )

        if kind in ("CHECKS", "PLANNING"):
            with pytest.raises(AnalysisRefusedError, match="one source dialogue"):
                analyse(kind, inputs)
        else:
            assert analyse(kind, inputs).tables

    @pytest.mark.parametrize("strength", list(StrengthMode))
    def test_copes_with_two_systems_ties_and_one_rater(self, kind, strength):
        strengths = [0, 0, 2, -1, 0]
        rows = [(f"d{n}", n, "a", "b", "r", one, 0) for n, one in enumerate(strengths)]

        found = analyse(kind, make_inputs(make_columns(rows), strength=strength))

        json.dumps(found.as_json(), allow_nan=False)

    def test_copes_with_judgments_that_are_all_alike(self, kind):
        rows = [(f"d{n}", n, "a", "b", "r", 3, 1) for n in range(4)]

        found = analyse(kind, make_inputs(make_columns(rows)))

        json.dumps(found.as_json(), allow_nan=False)

    def test_weighs_people_and_judges_as_declared(self, kind, rng):
        inputs = make_inputs(simulate(rng), masses=(3.0, 1.0))

        assert analyse(kind, inputs).tables


def test_a_soft_share_is_what_the_strength_says():
    """The check of the scale: a tie-free pair won 3 to 1 at strength 2 is .65 and .35."""
    taken = 0.75 * 0.65 + 0.25 * 0.35
    rows = [(f"d{n}", n, "a", "b", "r", 2 if n % 4 else -2, 1) for n in range(8)]

    found = analyse("CHECKS", make_inputs(make_columns(rows)))

    assert table(found, "systems")[0]["x"] == pytest.approx(taken, abs=1e-4)
    slope = special.logit(0.75) / special.logit(taken)
    assert any(f"{slope:.2f} times" in warning for warning in found.warnings)
