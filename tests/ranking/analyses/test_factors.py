"""What the dimensions have in common."""

from dataclasses import replace

import numpy as np
import pytest

from ranking.analyses import NoSources, analyse
from ranking.findings import AnalysisRefusedError
from ranking.judgments.sources import ItemFacts
from tests.ranking.analyses.helpers import MadeUpSources, make_inputs, simulate, stored, table

ONE = {"hope": [1, 0], "care": [1, 0], "tone": [1, 0], "fit": [1, 0], "self": [1, 0]}
TWO = {
    "warm": [1, 0], "kind": [1, 0], "soft": [1, 0],
    "clear": [0, 1], "brief": [0, 1], "plain": [0, 1],
}  # fmt: skip


def make_items(columns):
    """Give each system one message in each dialogue."""
    n_systems = len(columns.systems)
    items, row = np.unique(columns.item, return_index=True)
    sides = np.stack([columns.first[row], columns.second[row]], axis=1)
    keys, message = np.unique(columns.unit[row, None] * n_systems + sides, return_inverse=True)
    hostile = np.zeros(len(items), dtype=bool)
    return ItemFacts(columns.unit[row], hostile, message.reshape(-1, 2), keys % n_systems)


def make_study(rng, mixes, *, noise=0.7, **shape):
    """Mark messages on dimensions that are mixes of two things they may be good at."""
    columns = simulate(rng, **{"n_units": 60, "pairs_per_unit": 6, **shape})
    items = make_items(columns)
    good = rng.normal(size=(len(items.system), 2))
    own = {name: rng.normal(size=len(good)) * 0.4 for name in mixes}
    first, second = items.message[columns.item].T
    every = np.arange(columns.n_judgments)

    def judged(quality):
        felt = quality[first] - quality[second] + rng.normal(size=len(first)) * noise
        return np.where(np.abs(felt) < 0.2, 0, np.sign(felt)).astype(int)

    dimensions = {
        name: columns.taken(every, strength=judged(good @ np.array(mix) + own[name]))
        for name, mix in mixes.items()
    }
    won = columns.taken(every, strength=judged(good[:, 0]))
    sources = MadeUpSources(of_items=items)
    return make_inputs(won, dimensions=dimensions, sources=sources)


def never_varying(marks):
    return replace(marks, strength=np.zeros_like(marks.strength))


class TestOneFactor:
    def test_is_found_with_high_loadings_and_reliability(self, rng):
        inputs = make_study(rng, ONE)

        findings = analyse("FACTORS", inputs)

        loadings = table(findings, "loadings")
        assert [row["dimension"] for row in loadings] == list(ONE)
        for row in loadings:
            assert row["factor_1"] > 0.8
            assert "factor_2" not in row
            assert row["communality"] + row["unique"] == pytest.approx(1.0, abs=2e-4)
            assert row["communality"] == pytest.approx(row["factor_1"] ** 2, abs=2e-4)
        figures = {row["figure"]: row for row in table(findings, "reliability")}
        alpha = figures["Cronbach's alpha"]
        assert 0.9 < alpha["low"] < alpha["value"] < alpha["high"] < 1.0
        omega = figures["McDonald's omega, one factor"]["value"]
        assert omega == pytest.approx(alpha["value"], abs=0.01)
        n_messages = len(inputs.sources.items().system)
        n_marks = 5 * 2 * inputs.columns.n_judgments
        (counted,) = (one for one in findings.tables if one.key == "eigenvalues")
        assert f"{n_messages} messages, {n_marks} marks" in counted.caption


class TestTwoFactors:
    def test_are_told_apart_and_only_the_one_that_preferences_follow_goes_with_winning(self, rng):
        findings = analyse("FACTORS", make_study(rng, TWO, n_units=120))

        rows = {row["dimension"]: row for row in table(findings, "loadings")}
        main = {name: abs(row["factor_1"]) > abs(row["factor_2"]) for name, row in rows.items()}
        assert main["warm"] == main["kind"] == main["soft"]
        assert main["clear"] == main["brief"] == main["plain"]
        assert main["warm"] != main["clear"]
        assert abs(table(findings, "factors")[0]["Factor 2"]) < 0.3
        winning = {row["measure"]: row for row in table(findings, "winning")}
        assert winning["warm"]["low"] > 0.4
        assert winning["clear"]["high"] < 0.4
        assert len(winning) == 7


class TestScores:
    def test_are_plain_means_against_the_opponents(self, rng):
        inputs = make_study(rng, ONE)
        items = inputs.sources.items()

        rows = table(analyse("FACTORS", inputs), "correlations")

        scores = []
        for name in ("hope", "care"):
            marks = inputs.dimensions[name]
            first, second = items.message[marks.item].T
            said = np.sign(marks.strength)
            scores.append(
                [
                    np.concatenate([said[first == one], -said[second == one]]).mean()
                    for one in range(len(items.system))
                ]
            )
        assert rows[0]["care"] == pytest.approx(np.corrcoef(scores)[0, 1], abs=1e-4)

    def test_find_their_messages_where_a_dimension_was_marked_in_part(self, rng):
        inputs = make_study(rng, ONE)
        late = np.flatnonzero(inputs.columns.item >= 30)
        some = {name: marks.taken(late) for name, marks in inputs.dimensions.items()}

        findings = analyse("FACTORS", replace(inputs, dimensions=some))

        # Had the messages been those of other pairs, marks and preferences would not go together.
        assert all(row["value"] > 0.4 for row in table(findings, "winning"))


class TestOddStudies:
    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (
                lambda marks: {name: marks[name] for name in ("hope", "care")},
                "Fewer than 3 dimensions",
            ),
            (
                lambda marks: marks | {"hope": never_varying(marks["hope"])},
                "the same marks on hope",
            ),
            (
                lambda marks: dict.fromkeys(ONE, marks["hope"]),
                "one measure follows from the others",
            ),
            (
                lambda marks: {name: one.taken(np.arange(60)) for name, one in marks.items()},
                "30 are",
            ),
        ],
        ids=["two dimensions", "one that never varies", "copies", "few messages"],
    )
    def test_whose_marks_determine_no_factors_are_refused(self, rng, change, reason):
        inputs = make_study(rng, ONE)

        with pytest.raises(AnalysisRefusedError, match=reason):
            analyse("FACTORS", replace(inputs, dimensions=change(inputs.dimensions)))

    def test_of_whose_messages_nothing_is_known_are_refused(self, rng):
        inputs = make_study(rng, ONE)

        with pytest.raises(AnalysisRefusedError, match="Nothing is known"):
            analyse("FACTORS", replace(inputs, sources=NoSources()))

    @pytest.mark.parametrize(
        ("mixes", "shape"),
        [
            pytest.param(ONE, {"n_units": 1, "pairs_per_unit": 80, "theta": (0.0,) * 40}, id="one"),
            pytest.param(ONE, {"n_raters": 1, "n_judges": 0, "per_pair": 1}, id="one rater"),
            pytest.param({name: [0, 0] for name in ONE}, {}, id="nothing in common"),
            pytest.param(dict(list(ONE.items())[:3]), {}, id="three dimensions"),
        ],
    )
    def test_are_stored_without_figures_that_are_none(self, rng, mixes, shape):
        findings = analyse("FACTORS", make_study(rng, mixes, **shape))

        assert stored(findings).as_json() == findings.as_json()
        if shape.get("n_units") == 1:
            assert table(findings, "reliability")[0]["low"] is None
            assert any("Only 1 source dialogues" in one for one in findings.warnings)
