"""Ratings of a file against closed forms, references and their own invariants."""

import math
from dataclasses import replace

import numpy as np
import pytest

from ranking.files.choosing import RatingRefusedError
from ranking.files.options import EvaluatorChoice, IntervalMethod, Options, Ties
from ranking.files.rating import rate, rate_by
from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.models.ties import fit_davidson, fit_rao_kupper
from ranking.numerics.strength_mode import StrengthMode
from tests.ranking.files.files import by_name, duel, rated, read, row, swapped, tournament


def gap(found):
    """Return how far the first of two systems is ahead, in natural-log units."""
    rows = by_name(found)
    return rows["ada"].theta - rows["bo"].theta


def errors(*found):
    """Return the standard errors of each ranking, by name."""
    return [[by_name(one)[name].se for name in sorted(by_name(one))] for one in found]


class TestTwoSystems:
    def test_ties_count_half_unless_asked_otherwise(self, tmp_path):
        rows = duel(30, 10, 20)

        assert gap(rated(tmp_path, rows)) == pytest.approx(math.log(40 / 20))
        assert gap(rated(tmp_path, rows, ties=Ties.DROP)) == pytest.approx(math.log(30 / 10))

    @pytest.mark.parametrize("model", [Ties.DAVIDSON, Ties.RAO_KUPPER])
    def test_a_model_of_ties_gives_the_shares_back(self, tmp_path, model):
        found = rated(tmp_path, duel(30, 10, 20), ties=model)

        ahead, parameter = gap(found), found.draw_parameter
        if model is Ties.DAVIDSON:
            total = math.exp(ahead / 2) + math.exp(-ahead / 2) + parameter
            shares = (math.exp(ahead / 2) / total, parameter / total)
        else:
            won, lost = (1 / (1 + math.exp(parameter - way * ahead)) for way in (1, -1))
            shares = (won, 1 - won - lost)
        assert shares == pytest.approx((30 / 60, 20 / 60), abs=1e-8)

    @pytest.mark.parametrize(
        ("mode", "odds"),
        [
            (StrengthMode.SOFT, (30 * 0.75 + 10 * 0.25) / (30 * 0.25 + 10 * 0.75)),
            (StrengthMode.MULTIPLY, 3.0),
            (StrengthMode.IGNORE, 3.0),
            (None, (30 * 0.75 + 10 * 0.25) / (30 * 0.25 + 10 * 0.75)),
        ],
        ids=str,
    )
    def test_strengths_share_a_judgment_out(self, tmp_path, mode, odds):
        found = rated(tmp_path, duel(30, 10, strength=3), strength=mode)

        assert gap(found) == pytest.approx(math.log(odds))

    def test_counts_and_rates_are_those_of_the_file(self, tmp_path):
        found = rated(tmp_path, duel(30, 10, 20))
        without = rated(tmp_path, duel(30, 10, 20), ties=Ties.DROP)

        ada = by_name(found)["ada"]
        assert (ada.n, ada.wins, ada.losses, ada.ties) == (60, 30, 10, 20)
        assert ada.win_rate == pytest.approx(40 / 60)
        assert by_name(without)["ada"].win_rate == pytest.approx(30 / 40)
        assert "20 ties were left out of the fit." in without.warnings

    def test_the_scale_is_elo_with_mean_1500(self, tmp_path):
        ada, bo = rated(tmp_path, duel(100, 10)).rows

        assert (ada.elo + bo.elo) / 2 == pytest.approx(1500)
        assert ada.elo - bo.elo == pytest.approx(400)
        assert (ada.rank, bo.rank) == (1, 2)


class TestIntervals:
    def test_fisher_is_the_closed_form(self, tmp_path):
        ada = by_name(rated(tmp_path, duel(30, 10), interval=IntervalMethod.FISHER))["ada"]

        error = ELO_PER_LOG_UNIT * math.sqrt(1 / 30 + 1 / 10) / 2
        assert ada.se == pytest.approx(error)
        assert ada.ci_high - ada.elo == pytest.approx(1.959964 * error, rel=1e-6)

    def test_the_papers_is_one_over_the_root_of_n(self, tmp_path):
        found = rated(tmp_path, duel(30, 10, 9), interval=IntervalMethod.PAPER, ties=Ties.DROP)

        assert found.rows[0].se == pytest.approx(ELO_PER_LOG_UNIT / math.sqrt(40))
        assert any("too narrow" in warning for warning in found.warnings)

    @pytest.mark.parametrize("ties", Ties)
    def test_the_sandwich_is_as_wide_as_the_bootstrap(self, tmp_path, ties):
        judgments = read(tmp_path, tournament(3))
        options = Options(ties=ties, replicates=300)

        boot = rate(judgments, options)
        sandwich = rate(judgments, replace(options, interval=IntervalMethod.SANDWICH))

        ratio = np.divide(*errors(boot, sandwich))
        np.testing.assert_allclose(ratio, 1.0, atol=0.12)

    @pytest.mark.parametrize("ties", [Ties.DAVIDSON, Ties.RAO_KUPPER])
    def test_judgments_alone_in_their_unit_have_model_and_sandwich_agree(self, tmp_path, ties):
        rows = tournament(4, n_contexts=4_000, n_each=1)
        judgments = read(tmp_path, rows)
        options = Options(ties=ties, replicates=2, interval=IntervalMethod.FISHER)

        model = rate(judgments, options)
        sandwich = rate(judgments, replace(options, interval=IntervalMethod.SANDWICH))

        ratio = np.divide(*errors(model, sandwich))
        np.testing.assert_allclose(ratio, 1.0, atol=0.05)

    @pytest.mark.parametrize("model", [Ties.DAVIDSON, Ties.RAO_KUPPER])
    def test_a_model_of_ties_without_any_has_the_sandwich_of_half_wins(self, tmp_path, model):
        judgments = read(tmp_path, [one for one in tournament(10) if one["winner"] != "tie"])
        options = Options(replicates=20, interval=IntervalMethod.SANDWICH)

        half, found = (rate(judgments, replace(options, ties=ties)) for ties in (Ties.HALF, model))

        np.testing.assert_allclose(np.divide(*errors(found, half)), 1.0, rtol=1e-6)

    @pytest.mark.parametrize("interval", IntervalMethod)
    def test_every_rating_lies_in_its_interval_and_every_rank_in_its_own(self, tmp_path, interval):
        for one in rated(tmp_path, tournament(5), interval=interval).rows:
            assert one.ci_low <= one.elo <= one.ci_high
            assert one.rank_low <= one.rank <= one.rank_high
            assert one.tier >= 1

    def test_the_same_seed_gives_the_same_answer_and_another_another(self, tmp_path):
        judgments = read(tmp_path, tournament(6))

        one, same, other = (rate(judgments, Options(seed=s, replicates=20)) for s in (1, 1, 2))

        assert one.rows == same.rows
        assert one.rows[0].se != other.rows[0].se

    def test_one_unit_is_too_little_for_an_interval(self, tmp_path):
        found = rated(tmp_path, duel(30, 10, n_contexts=1))

        assert found.rows[0].se is None
        assert found.rows[0].rank == 1
        assert found.rows[0].tier is None
        assert any("too little" in warning for warning in found.warnings)

    @pytest.mark.parametrize(
        ("n_units", "says"),
        [
            (19, ["no interval can be relied on"]),
            (20, ["a correction for few"]),
            (49, ["a correction for few"]),
            (50, []),
        ],
    )
    def test_few_units_are_warned_of(self, tmp_path, n_units, says):
        found = rated(tmp_path, duel(60, 20, n_contexts=n_units))

        told = [one for one in found.warnings if "different context_id" in one]
        assert len(told) == len(says)
        for warning, words in zip(told, says, strict=True):
            assert warning.startswith(f"Only {n_units} different context_id")
            assert words in warning

    def test_units_of_which_no_judgment_is_in_the_fit_do_not_count(self, tmp_path):
        ties = [row(f"t{n}", "ada", "bo", "tie") for n in range(57)]

        dropped = rated(tmp_path, [*duel(9, 3, n_contexts=3), *ties], ties=Ties.DROP)
        halved = rated(tmp_path, [*duel(9, 3, n_contexts=3), *ties])

        assert (dropped.n_units, halved.n_units) == (3, 60)
        assert any(one.startswith("Only 3 different context_id") for one in dropped.warnings)
        assert not any("different context_id" in one for one in halved.warnings)


def triplets(seed):
    """Return judgments of three systems with one record, each time in another order."""
    rng = np.random.default_rng(seed)
    record = [
        (other, winner)
        for other in ("fred", "mid", "top")
        for winner in ("a", "b", "tie")
        for _ in rng.integers(1, 6, size=rng.integers(1, 4))
    ]
    return [
        row(f"c{number}", record[number][0], one, record[number][1])
        for one in ("alf", "bo", "zed")
        for number in rng.permutation(len(record))
    ]


class TestInvariants:
    def test_swapping_all_sides_changes_nothing(self, tmp_path):
        rows = tournament(7, strengths=True)

        assert rated(tmp_path, rows).rows == rated(tmp_path, swapped(rows)).rows

    @pytest.mark.parametrize("ties", Ties)
    def test_the_order_of_rows_changes_nothing_but_rounding(self, tmp_path, ties):
        rows = tournament(8, strengths=True)

        one = rated(tmp_path, rows, ties=ties)
        other = rated(tmp_path, rows[::-1], ties=ties)

        for a, b in zip(one.rows, other.rows, strict=True):
            assert a.system == b.system
            assert (a.elo, a.se, a.ci_low) == pytest.approx((b.elo, b.se, b.ci_low), abs=1e-6)

    def test_twins_share_a_rank_though_their_ratings_differ_in_the_last_bit(self, tmp_path):
        found = by_name(rated(tmp_path, triplets(1), ties=Ties.RAO_KUPPER))

        assert [found[one].rank for one in ("alf", "bo", "zed")] == [2, 2, 2]

    def test_models_of_ties_are_those_of_the_numerics(self, tmp_path):
        rows = tournament(9)
        systems = sorted({one["system_a"] for one in rows})
        wins, ties = np.zeros((2, len(systems), len(systems)))
        for one in rows:
            a, b = systems.index(one["system_a"]), systems.index(one["system_b"])
            if one["winner"] == "tie":
                ties[a, b] += 1
                ties[b, a] += 1
            else:
                wins[(a, b) if one["winner"] == "a" else (b, a)] += 1

        for model, fit in ((Ties.DAVIDSON, fit_davidson), (Ties.RAO_KUPPER, fit_rao_kupper)):
            found = by_name(rated(tmp_path, rows, ties=model))
            theta = [found[system].theta for system in systems]
            np.testing.assert_allclose(theta, fit(wins, ties).log_strengths, atol=1e-9)


class TestWhoCounts:
    ROWS = [one | {"judge_kind": "human", "lab": "x"} for one in duel(30, 10)] + [
        one | {"judge_kind": "llm", "lab": "y"} for one in duel(5, 15)
    ]

    @pytest.mark.parametrize(
        ("rows", "who", "odds"),
        [
            (ROWS, None, 3),
            (ROWS, EvaluatorChoice.LLM, 1 / 3),
            (ROWS, EvaluatorChoice.ALL, 35 / 25),
            (ROWS[40:], None, 1 / 3),
        ],
        ids=["people unless asked otherwise", "judges", "everybody", "the one kind of a file"],
    )
    def test_whose_judgments_make_the_ratings(self, tmp_path, rows, who, odds):
        found = rated(tmp_path, rows, **({"evaluators": who} if who else {}))

        assert gap(found) == pytest.approx(math.log(odds))
        is_told = found.warnings[0].startswith("People alone count; left out: 20 judgments by")
        assert is_told is (odds == 3)

    def test_a_ranking_for_each_value_has_its_judgments_alone(self, tmp_path):
        judgments = read(tmp_path, self.ROWS, by="judge_kind")

        found = rate_by(judgments, Options(replicates=20))

        assert list(found) == ["human", "llm"]
        assert gap(found["human"]) == pytest.approx(math.log(3))
        assert gap(found["llm"]) == pytest.approx(math.log(1 / 3))

    def test_rows_left_out_are_told_of_the_whole_file_alone(self, tmp_path):
        without = row("c1", "ada", "bo", "", judge_kind="human", lab="x")
        judgments = read(tmp_path, [*self.ROWS, without], by="judge_kind")

        told = [one.warnings for one in rate_by(judgments, Options(replicates=20)).values()]

        assert "Left out: 1 row without a winner." in rate(judgments, Options()).warnings
        assert not any("left out" in warning for warnings in told for warning in warnings)

    def test_who_is_not_there_or_not_told_apart_is_refused(self, tmp_path):
        with pytest.raises(RatingRefusedError, match="kind llm"):
            rated(tmp_path, self.ROWS[:40], evaluators=EvaluatorChoice.LLM)
        with pytest.raises(RatingRefusedError, match="judge_kind"):
            rated(tmp_path, duel(3, 1), evaluators=EvaluatorChoice.HUMAN)


class TestStrengthsThatAreMissing:
    def test_one_missing_strength_has_all_of_them_ignored(self, tmp_path):
        rows = duel(30, 10, strength=5)
        rows[7]["strength"] = ""

        found = rated(tmp_path, rows)

        assert found.chosen.strength is StrengthMode.IGNORE
        assert gap(found) == pytest.approx(math.log(3))
        assert any("1 lack one" in warning for warning in found.warnings)

    def test_asking_for_strengths_that_are_not_there_is_refused(self, tmp_path):
        with pytest.raises(RatingRefusedError, match="40 of 40 preferences have no strength"):
            rated(tmp_path, duel(30, 10), strength=StrengthMode.SOFT)

    def test_a_tie_needs_none(self, tmp_path):
        found = rated(tmp_path, duel(30, 10, 5, strength=2))

        assert found.chosen.strength is StrengthMode.SOFT


ISLANDS = [*duel(30, 10), *(row(f"c{n}", "cy", "dee", "ab"[n % 3 == 0]) for n in range(30))]


class TestGroupsThatDoNotCompare:
    def test_islands_are_refused_with_what_would_join_them(self, tmp_path):
        found = rated(tmp_path, ISLANDS)

        assert found.components == (("ada", "bo"), ("cy", "dee"))
        assert found.rows == ()
        assert found.refusal == "No judgments place these 2 groups of systems on one scale."
        assert len(found.joining) == 1
        assert "against" in found.joining[0]

    def test_on_request_each_group_is_ranked_by_itself(self, tmp_path):
        found = rated(tmp_path, ISLANDS, per_component=True)

        rows = by_name(found)
        assert found.refusal is None
        assert [one.rank for one in found.rows] == [1, 2, 1, 2]
        assert rows["cy"].theta - rows["dee"].theta == pytest.approx(math.log(2))
        assert rows["ada"].elo + rows["bo"].elo == pytest.approx(3000)

    @pytest.mark.parametrize("model", [Ties.DAVIDSON, Ties.RAO_KUPPER])
    def test_a_group_without_ratings_leaves_the_others_theirs(self, tmp_path, model):
        rows = [*duel(30, 10, 5), *(row(f"c{n}", "cy", "dee", "tie") for n in range(9))]

        found = rated(tmp_path, rows, ties=model, per_component=True)

        alone = rated(tmp_path, duel(30, 10, 5), ties=model)
        assert (found.rows[:2], found.refusal) == (alone.rows, None)
        assert [(one.elo, one.rank, one.ties) for one in found.rows[2:]] == [(None, None, 9)] * 2
        assert any(one.startswith("cy, dee: The model of ties has no") for one in found.warnings)

    def test_a_system_that_never_loses_stands_alone(self, tmp_path):
        rows = [*duel(30, 10), *(row(f"c{n}", "eve", "bo", "a") for n in range(9))]

        refused = rated(tmp_path, rows)
        found = by_name(rated(tmp_path, rows, per_component=True))

        assert refused.components == (("ada", "bo"), ("eve",))
        assert refused.joining[0].endswith(" against eve, with a share for bo")
        assert found["eve"].elo is None
        assert found["eve"].win_rate == 1.0

    def test_ties_alone_are_refused_by_models_of_ties_and_even_out_otherwise(self, tmp_path):
        assert gap(rated(tmp_path, duel(0, 0, 30))) == 0.0
        refused = rated(tmp_path, duel(0, 0, 30), ties=Ties.DAVIDSON)
        assert "no finite answer" in refused.refusal
