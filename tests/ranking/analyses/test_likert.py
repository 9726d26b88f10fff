"""Mean points and orders, on planted ratings and on odd ones."""

import dataclasses

import numpy as np
import pytest
import scipy

from ranking.analyses import likert
from ranking.findings import AnalysisRefusedError
from ranking.judgments.scores import implied_columns
from ranking.judgments.sources import OtherOrder
from ranking.numerics.strength_mode import StrengthMode
from tests.helpers.scores import make_scores, simulate_scores
from tests.ranking.analyses.helpers import keys_of, make_inputs, stored, table
from tests.ranking.numerics import peers

QUALITY = (2.2, 2.9, 3.1, 3.9)


def found_in(scores, **kwargs):
    inputs = make_inputs(implied_columns(scores), strength=StrengthMode.IGNORE)
    return likert.analyse(dataclasses.replace(inputs, scores=scores, **kwargs))


def by_system(findings, key):
    return {row["system"]: row for row in table(findings, key)}


def frame_of(scores):
    return peers.DataFrame(
        {
            "system": [scores.systems[one] for one in scores.system],
            "unit": scores.unit,
            "who": scores.evaluator,
            "message": scores.message,
            "points": scores.points.mean(axis=1),
        }
    )


def mean_and_reach(own, ways):
    """Return a system's mean by a regression, and how far its interval reaches."""
    groups = own[ways].to_numpy().squeeze()
    peer = peers.OLS(own.points, np.ones(len(own))).fit(
        cov_type="cluster", cov_kwds={"groups": groups}
    )
    n_clusters = min(own[way].nunique() for way in ways)
    return peer.params.iloc[0], scipy.stats.t.ppf(0.975, n_clusters - 1) * peer.bse.iloc[0]


@pytest.fixture
def planted(rng):
    return simulate_scores(rng, quality=QUALITY, n_judges=2)


class TestScores:
    def test_means_and_intervals_agree_with_clustered_regressions(self, planted):
        findings = found_in(planted)

        rows, means = by_system(findings, "scores"), by_system(findings, "dimensions")
        crossed = {
            row["system"]: row["crossed_low"]
            for row in table(findings, "means")
            if row["dimension"] == "All dimensions"
        }
        assert stored(findings) == findings
        for place, (slug, own) in enumerate(frame_of(planted).groupby("system")):
            mean, reach = mean_and_reach(own, ["unit"])
            assert rows[slug]["value"] == pytest.approx(mean, abs=1e-4)
            assert rows[slug]["low"] == pytest.approx(mean - reach, abs=1e-4)
            assert rows[slug]["high"] == pytest.approx(mean + reach, abs=1e-4)
            mean, reach = mean_and_reach(own, ["unit", "who"])
            assert crossed[slug] == pytest.approx(max(1.0, mean - reach), abs=1e-4)
            warmth, sense = planted.points[planted.system == place].mean(axis=0)
            found = (means[slug]["on_W"], means[slug]["on_S"], means[slug]["all"])
            assert found == pytest.approx((warmth, sense, mean), abs=0.0051)

    def test_the_best_come_first_and_ranks_hold_the_place(self, planted):
        rows = table(found_in(planted), "scores")

        assert [row["system"] for row in rows] == ["s3", "s2", "s1", "s0"]
        for place, row in enumerate(rows, start=1):
            assert row["rank_low"] <= place <= row["rank_high"]
        assert (rows[0]["rank_low"], rows[0]["rank_high"]) == (1, 1)


class TestOrders:
    def test_means_and_implied_ratings_find_the_planted_order(self, planted):
        rows = table(found_in(planted), "orders")

        for key in ("mean", "normalised", "implied"):
            assert [row[f"{key}_rank"] for row in rows] == [1, 2, 3, 4]

    def test_an_order_of_another_study_stands_beside(self, planted):
        other = OtherOrder("Pairs", "People", "fit-other", {"s0": 1600, "s1": 1500, "s3": 1400})

        findings = found_in(planted, others=(other,))

        rows = by_system(findings, "orders")
        assert [rows[slug]["fit-other_rank"] for slug in planted.systems] == [1, 2, None, 3]
        agreement = {(row["one"], row["other"]): row for row in table(findings, "agreement")}
        found = agreement["Mean points", "Elo in Pairs (People)"]
        assert (found["kendall"], found["systems"], found["low"]) == (-1.0, 3, None)

    @pytest.mark.parametrize("n_without", [0, 8], ids=["all dialogues", "some imply no pair"])
    def test_agreement_has_an_interval_over_dialogues(self, rng, n_without):
        scores = simulate_scores(rng, quality=(3.0, 3.1, 3.05, 3.15), n_dialogues=30, strict=1.0)
        alone = (scores.unit < n_without) & (scores.system > 0)
        fewer = dataclasses.replace(scores, points=np.where(alone[:, None], 0, scores.points))

        row = table(found_in(fewer), "agreement")[1]

        assert len(implied_columns(fewer).units) == 30 - n_without
        assert (row["one"], row["other"]) == ("Mean points", "Implied Elo")
        assert row["low"] <= row["kendall"] <= row["high"]
        assert row["low"] < row["high"]

    @pytest.mark.parametrize("n_systems", [1, 3])
    def test_where_no_order_is_implied_the_means_stand(self, n_systems):
        rows = [(f"d{n}", n, f"s{n % n_systems}", f"r{n % 2}", (1 + n % 4, 2)) for n in range(12)]

        findings = found_in(make_scores(rows))

        assert any("imply no order" in warning for warning in findings.warnings)
        assert any("was rated once" in warning for warning in findings.warnings)
        assert "implied" not in table(findings, "orders")[0]
        assert "agreement" not in keys_of(findings)
        assert len(table(findings, "scores")) == n_systems


class TestEvaluators:
    def test_finds_who_is_mild(self, rng):
        scores = simulate_scores(rng, quality=QUALITY, strict=0.0)
        kind = scores.points + (scores.evaluator == 2)[:, None]

        rows = table(found_in(dataclasses.replace(scores, points=kind)), "strictness")

        assert rows[0]["evaluator"] == "r2"
        assert rows[0]["low"] < 1 < rows[0]["high"]
        own = kind[scores.evaluator == 2].mean(axis=1)
        figures = (rows[0]["n"], rows[0]["mean"], rows[0]["sd"])
        assert figures == pytest.approx((len(own), own.mean(), own.std(ddof=1)), abs=1e-4)
        assert all(row["from_others"] < 0.3 for row in rows[1:])

    def test_judges_correlate_with_people_as_message_means_do(self, planted):
        rows = table(found_in(planted), "judges")

        frame = frame_of(planted)
        is_judge = planted.is_judge[planted.evaluator]
        people, judges = (
            frame[one].groupby("message").points.mean() for one in (~is_judge, is_judge)
        )
        assert [row["dimension"] for row in rows] == ["All dimensions", "Warmth", "Sense"]
        expected = scipy.stats.pearsonr(people, judges).statistic
        assert rows[0]["pearson"] == pytest.approx(expected, abs=1e-4)
        expected = scipy.stats.spearmanr(people, judges).statistic
        assert rows[0]["spearman"] == pytest.approx(expected, abs=1e-4)
        assert rows[0]["pearson_low"] < rows[0]["pearson"] < rows[0]["pearson_high"]
        assert {row["evaluator"] for row in table(found_in(planted), "each-judge")} == {
            "judge-0",
            "judge-1",
        }

    def test_without_judges_or_without_people_there_is_nothing_to_correlate(self, rng):
        people = simulate_scores(rng, quality=QUALITY)
        judges = dataclasses.replace(people, is_judge=np.ones(8, dtype=bool))

        for scores in (people, judges):
            assert "judges" not in keys_of(found_in(scores))


class TestDegenerate:
    def test_one_evaluator(self):
        rows = [
            (f"d{n}", n, f"s{k}", "ann", (1 + (n + k) % 5, 3)) for n in range(6) for k in (0, 1)
        ]

        findings = found_in(make_scores(rows))

        assert len(table(findings, "scores")) == 2
        assert table(findings, "strictness")[0]["from_others"] is None
        assert table(findings, "means")[0]["crossed_low"] is None

    def test_everybody_gives_the_same(self):
        rows = [
            (f"d{n}", n, f"s{k}", f"r{r}", (3, 3)) for n in range(5) for k in (0, 1) for r in (0, 1)
        ]

        findings = found_in(make_scores(rows))

        row = table(findings, "scores")[0]
        assert (row["value"], row["low"], row["normalised"]) == (3, None, None)
        assert (row["rank_low"], row["rank_high"]) == (1, 2)
        assert any("no normalised scores" in warning for warning in findings.warnings)

    def test_one_dialogue_has_means_without_intervals(self):
        rows = [("d", 0, f"s{k}", f"r{r}", (1 + k, 2 + r)) for k in (0, 1) for r in range(3)]

        row = table(found_in(make_scores(rows)), "scores")[0]

        assert (row["system"], row["low"], row["rank_low"]) == ("s1", None, None)

    def test_ratings_that_lack_a_dimension_and_who_gave_two_ratings_are_told(self, planted):
        points, who = planted.points.copy(), planted.evaluator.copy()
        points[0, 1] = 0
        who[:2] = len(planted.evaluators)
        odd = dataclasses.replace(
            planted,
            points=points,
            evaluator=who,
            evaluators=(*planted.evaluators, "zoe"),
            is_judge=np.append(planted.is_judge, False),
        )

        _, lacking, few = found_in(odd).warnings

        assert lacking.startswith("1 of 800 ratings lack a dimension")
        assert few.startswith("1 of 11 evaluators gave fewer than 3 ratings")

    def test_refuses_what_rates_nothing_alone(self, planted):
        inputs = make_inputs(implied_columns(planted))
        with pytest.raises(AnalysisRefusedError, match="judgments of pairs"):
            likert.analyse(inputs)
        nothing = dataclasses.replace(planted, points=0 * planted.points)
        with pytest.raises(AnalysisRefusedError, match="No rating"):
            found_in(nothing)
