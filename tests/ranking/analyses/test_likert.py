"""Mean points and orders, on planted ratings and on odd ones."""

import dataclasses
import json

import numpy as np
import pytest
import scipy

from ranking.analyses import likert
from ranking.analyses.likert.means import measures
from ranking.findings import AnalysisRefusedError, Findings
from ranking.judgments.orders import OtherOrder
from ranking.judgments.scores import implied_columns
from ranking.numerics.strength_mode import StrengthMode
from tests.helpers.scores import make_scores, simulate_scores
from tests.ranking.analyses.helpers import make_inputs, table
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


@pytest.fixture
def planted(rng):
    return simulate_scores(rng, quality=QUALITY, n_judges=2)


class TestScores:
    def test_mean_and_interval_agree_with_a_clustered_regression(self, planted):
        rows = by_system(found_in(planted), "scores")

        for slug, own in frame_of(planted).groupby("system"):
            peer = peers.OLS(own.points, np.ones(len(own))).fit(
                cov_type="cluster", cov_kwds={"groups": own.unit}, use_t=True
            )
            reach = scipy.stats.t.ppf(0.975, own.unit.nunique() - 1) * peer.bse.iloc[0]
            mean = own.points.mean()
            assert rows[slug]["value"] == pytest.approx(mean, abs=1e-4)
            assert rows[slug]["low"] == pytest.approx(mean - reach, abs=1e-4)
            assert rows[slug]["high"] == pytest.approx(mean + reach, abs=1e-4)

    def test_two_way_intervals_agree_with_a_regression(self, planted):
        rows = {
            row["system"]: row
            for row in table(found_in(planted), "means")
            if row["dimension"] == "All dimensions"
        }

        for slug, own in frame_of(planted).groupby("system"):
            peer = peers.OLS(own.points, np.ones(len(own))).fit(
                cov_type="cluster", cov_kwds={"groups": own[["unit", "who"]].to_numpy()}
            )
            n_clusters = min(own.unit.nunique(), own.who.nunique())
            reach = scipy.stats.t.ppf(0.975, n_clusters - 1) * peer.bse.iloc[0]
            low = max(1.0, own.points.mean() - reach)
            assert rows[slug]["crossed_low"] == pytest.approx(low, abs=1e-4)

    def test_the_best_come_first_and_ranks_hold_the_place(self, planted):
        rows = table(found_in(planted), "scores")

        assert [row["system"] for row in rows] == ["s3", "s2", "s1", "s0"]
        for place, row in enumerate(rows, start=1):
            assert row["rank_low"] <= place <= row["rank_high"]
        assert (rows[0]["rank_low"], rows[0]["rank_high"]) == (1, 1)

    def test_who_is_strict_changes_no_normalised_score(self, planted):
        """One rater takes two points from everything; scores leave the scale, and no matter."""
        moved = planted.points - 2 * (planted.evaluator == 3)[:, None] + 2
        shifted = dataclasses.replace(planted, points=moved)
        level = dataclasses.replace(planted, points=planted.points + 2)

        one, other = (by_system(found_in(each), "normalised") for each in (level, shifted))

        for slug, row in one.items():
            cells = [cell for key, cell in row.items() if key != "system"]
            others = [cell for key, cell in other[slug].items() if key != "system"]
            assert cells == pytest.approx(others, abs=1e-3)

    def test_names_do_not_matter(self, planted):
        renamed = dataclasses.replace(planted, systems=tuple(f"t{n}" for n in range(4)))

        one, other = (by_system(found_in(each), "scores") for each in (planted, renamed))

        for slug, row in one.items():
            assert other[slug.replace("s", "t")] == row | {"system": slug.replace("s", "t")}

    def test_each_dimension_has_its_means(self, planted):
        rows = by_system(found_in(planted), "dimensions")

        for place, slug in enumerate(planted.systems):
            points = planted.points[planted.system == place]
            assert rows[slug]["on_W"] == pytest.approx(points[:, 0].mean(), abs=0.0051)
            assert rows[slug]["on_S"] == pytest.approx(points[:, 1].mean(), abs=0.0051)
            assert rows[slug]["all"] == pytest.approx(points.mean(), abs=0.0051)


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

    def test_agreement_has_an_interval_over_dialogues(self, rng):
        scores = simulate_scores(rng, quality=(3.0, 3.1, 3.05, 3.15), n_dialogues=30, strict=1.0)

        row = table(found_in(scores), "agreement")[1]

        assert (row["one"], row["other"]) == ("Mean points", "Implied Elo")
        assert row["low"] <= row["kendall"] <= row["high"]
        assert row["low"] < row["high"]

    def test_agreement_keeps_its_interval_where_dialogues_imply_no_pair(self, rng):
        scores = simulate_scores(rng, quality=(3.0, 3.1, 3.05, 3.15), n_dialogues=30, strict=1.0)
        alone = (scores.unit < 8) & (scores.system > 0)
        points = np.where(alone[:, None], 0, scores.points)
        fewer = dataclasses.replace(scores, points=points)

        row = table(found_in(fewer), "agreement")[1]

        assert len(implied_columns(fewer).units) == 22
        assert row["low"] < row["high"]

    def test_where_no_order_is_implied_the_means_stand(self):
        rows = [(f"d{n}", n, f"s{n % 3}", f"r{n % 2}", (1 + n % 4, 2)) for n in range(12)]

        findings = found_in(make_scores(rows))

        assert any("imply no order" in warning for warning in findings.warnings)
        assert "implied" not in table(findings, "orders")[0]
        assert len(table(findings, "scores")) == 3


class TestEvaluators:
    def test_finds_who_is_mild(self, rng):
        scores = simulate_scores(rng, quality=QUALITY, strict=0.0)
        kind = scores.points + (scores.evaluator == 2)[:, None]

        rows = table(found_in(dataclasses.replace(scores, points=kind)), "strictness")

        assert rows[0]["evaluator"] == "r2"
        assert rows[0]["low"] < 1 < rows[0]["high"]
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
            assert "judges" not in [one.key for one in found_in(scores).tables]


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

    def test_one_system(self):
        rows = [(f"d{n}", n, "s", f"r{r}", (1 + (n + r) % 5, 2)) for n in range(5) for r in (0, 1)]

        findings = found_in(make_scores(rows))

        assert [row["system"] for row in table(findings, "scores")] == ["s"]
        assert "agreement" not in [one.key for one in findings.tables]

    def test_one_dialogue_has_means_without_intervals(self):
        rows = [("d", 0, f"s{k}", f"r{r}", (1 + k, 2 + r)) for k in (0, 1) for r in range(3)]

        row = table(found_in(make_scores(rows)), "scores")[0]

        assert (row["system"], row["low"], row["rank_low"]) == ("s1", None, None)

    def test_ratings_that_lack_a_dimension_are_told(self, planted):
        points = planted.points.copy()
        points[0, 1] = 0

        findings = found_in(dataclasses.replace(planted, points=points))

        assert any(warning.startswith("1 of ") for warning in findings.warnings)

    def test_who_gave_two_ratings_is_left_out_of_normalised_scores(self, planted):
        who = planted.evaluator.copy()
        who[:2] = len(planted.evaluators)
        more = dataclasses.replace(
            planted,
            evaluator=who,
            evaluators=(*planted.evaluators, "zoe"),
            is_judge=np.append(planted.is_judge, False),
        )

        assert any("fewer than 3 ratings" in one for one in found_in(more).warnings)

    def test_refuses_what_rates_nothing_alone(self, planted):
        inputs = make_inputs(implied_columns(planted))
        with pytest.raises(AnalysisRefusedError, match="judgments of pairs"):
            likert.analyse(inputs)
        nothing = dataclasses.replace(planted, points=0 * planted.points)
        with pytest.raises(AnalysisRefusedError, match="No rating"):
            found_in(nothing)

    def test_reads_back_as_it_was_stored(self, planted):
        findings = found_in(planted)

        assert Findings.of(json.loads(json.dumps(findings.as_json(), allow_nan=False))) == findings


class TestCoverage:
    def test_intervals_of_means_hold_the_planted_mean(self):
        """400 planted studies of 20 dialogues, raters alike.

        Points are rounded and cut at 1 and 5; around 3 that leaves the mean at 3.
        """
        rng, held = np.random.default_rng(46), 0
        for _ in range(400):
            scores = simulate_scores(rng, quality=(3.0,), n_dialogues=20, strict=0.0)
            measure = measures(scores)[0]
            found = measure.by_dialogue(measure.points, 0)
            assert found is not None
            low, high = found.interval(0.95)
            held += low <= 3 <= high
        assert 0.925 <= held / 400 <= 0.975
