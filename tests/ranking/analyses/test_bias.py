"""What sways judgments besides the messages."""

import math
from dataclasses import replace

import numpy as np
import pytest

from ranking.analyses import analyse
from ranking.analyses.bias_order import agreement
from ranking.findings import AnalysisRefusedError
from ranking.numerics.agreement.majority import two_sided_p
from tests.ranking.analyses.helpers import (
    MadeUpSources,
    duel,
    facts_of,
    keys_of,
    make_columns,
    make_facts,
    make_inputs,
    people_of,
    places_of,
    row_of,
    simulate,
    table,
)

FAMILIES = ("oak", "oak", "elm", "yew")


def known(columns, **of_judgments):
    systems = {
        slug: make_facts(slug, family=family)
        for slug, family in zip(columns.systems, FAMILIES, strict=False)
    }
    slugs = np.array(columns.evaluators)[columns.is_judge].tolist()
    of_judges = dict(zip(slugs, ("oak", "elm"), strict=False))
    facts = facts_of(columns, **of_judgments)
    return make_inputs(columns, sources=MadeUpSources(systems, of_judges, of_judgments=facts))


class TestPosition:
    def test_a_bias_for_the_first_position_is_found(self, rng):
        findings = analyse("BIAS", known(simulate(rng, n_units=80, position=0.8)))

        people = row_of(findings, "position", kind="People")
        assert people["low"] > 0.5
        assert people["p"] < 0.001
        assert people["low"] < people["value"] < people["high"]

    @pytest.mark.parametrize(("judges", "is_told"), [((), False), (tuple("abcdef"), True)])
    def test_that_people_have_each_in_a_way_of_their_own_is_none_of_people(self, judges, is_told):
        rows = [
            (f"d{n:02d}", n, "a", "b", who, shown if who in "abcd" else -shown, shown)
            for n in range(30)
            for who in "abcdef"
            for shown in [1 if n % 2 else -1]
        ]

        findings = analyse("BIAS", known(make_columns(rows, judges=judges)))

        kind = "LLM judges" if judges else "People"
        row = row_of(findings, "position", kind=kind)
        assert row["value"] == pytest.approx(2 / 3, abs=1e-4)
        assert (row["p"] < 0.001) == is_told
        assert is_told or row["low"] < 0.4

    def test_each_evaluator_has_the_share_of_first_positions(self, rng):
        columns = simulate(rng, n_units=20, position=0.8)

        findings = analyse("BIAS", known(columns))

        for place, name in enumerate(columns.evaluators):
            own = (columns.evaluator == place) & (columns.strength != 0)
            first = columns.strength[own] * columns.shown[own] > 0
            found = row_of(findings, "position_each", evaluator=name)
            assert (found["decided"], found["value"]) == (own.sum(), round(first.mean(), 4))
            assert found["p"] >= round(two_sided_p(int(first.sum()), len(first)), 6)

    def test_pairs_judged_in_both_orders_are_counted_by_their_answers(self):
        answers = {0: (3, 3), 1: (2, -2), 2: (-2, 2), 3: (0, 1), 4: (0, -1)}
        rows = [
            (f"d{item % 2}", item, "a", "b", "judge", strength, shown)
            for item, both in answers.items()
            for strength, shown in zip(both, (1, -1), strict=True)
        ]
        rows.append(("d0", 5, "a", "b", "judge", 1, 1))  # in one order

        findings = analyse("BIAS", known(make_columns(rows, judges=("judge",))))

        judge = row_of(findings, "position_each", evaluator="judge")
        counted = (judge["both"], judge["same"], judge["always_first"], judge["always_second"])
        assert counted == (5, 0.2, 0.2, 0.2)
        assert row_of(findings, "position", kind="LLM judges")["same"] == 0.2

    def test_several_samples_of_an_order_are_one_answer(self):
        said = [(2, 1), (2, 1), (-1, 1), (1, -1)]
        rows = [(f"d{n % 2}", 0, "a", "b", "judge", *one) for n, one in enumerate(said)]

        findings = analyse("BIAS", known(make_columns(rows, judges=("judge",))))

        assert row_of(findings, "position_each", evaluator="judge")["same"] == 1.0


class TestLength:
    def test_a_bias_for_length_is_found_and_of_its_size(self, rng):
        columns = simulate(rng, n_units=150, length=2.0, thresholds=(0.0, 1.1, 2.0))

        findings = analyse("BIAS", known(columns))

        everybody = row_of(findings, "verbosity", kind="All")
        assert everybody["low"] > 0.05
        assert everybody["p"] < 0.001
        assert everybody["value"] == pytest.approx(everybody["raw"], abs=0.05)
        assert row_of(findings, "length", kind="All", longer="any")["low"] > 0.5

    def test_shares_are_by_the_size_of_the_difference(self):
        rows = [(f"d{n % 5}", n, "a", "b", "r", 1 if n < 8 else -1, 1) for n in range(10)]
        lengths = np.array([[220.0, 100.0]] * 8 + [[105.0, 100.0]] * 2)[..., None]
        columns = make_columns(rows, features=lengths, feature_names=("length",))

        findings = analyse("BIAS", known(columns))

        assert [one["longer"] for one in table(findings, "length")] == [
            "any",
            "up to 10 %",
            "more than twice as long",
        ]
        assert row_of(findings, "length", longer="any")["value"] == 0.8
        assert row_of(findings, "length", longer="up to 10 %")["value"] == 0.0

    def test_a_better_system_that_writes_more_is_told_from_length(self, rng):
        columns = simulate(rng, n_units=150, theta=(1.5, 0.0, 0.0, -1.5))
        lengths = rng.uniform(80, 120, size=(columns.n_items, 2))
        pair = np.zeros((columns.n_items, 2), dtype=int)
        pair[columns.item] = np.stack([columns.first, columns.second], axis=1)
        lengths *= np.array([4.0, 2.0, 2.0, 1.0])[pair]

        findings = analyse("BIAS", known(replace(columns, features=lengths[..., None])))

        everybody = row_of(findings, "verbosity", kind="All")
        assert everybody["raw"] > 0.1
        assert everybody["low"] < 0.0 < everybody["high"]


class TestOwnFamily:
    @pytest.fixture
    def columns(self, rng):
        """The judge of the oaks prefers oaks, whatever it sees, in half of its judgments."""
        columns = simulate(rng, n_units=80, per_pair=6)
        is_oak = np.array([family == "oak" for family in FAMILIES])
        toward = is_oak[columns.first].astype(int) - is_oak[columns.second]
        is_swayed = (columns.evaluator == 6) & (toward != 0) & (rng.random(len(toward)) < 0.5)
        return replace(columns, strength=np.where(is_swayed, 3 * toward, columns.strength))

    def test_is_preferred_more_than_by_others_of_the_same_pairs(self, columns):
        findings = analyse("BIAS", known(columns))

        oak, elm = (row_of(findings, "own_family", family=name) for name in ("oak", "elm"))
        assert oak["low"] > 0.15
        assert oak["p"] < 0.001
        assert oak["value"] == pytest.approx(oak["own"] - oak["others"], abs=2e-4)
        assert elm["low"] < 0.0 < elm["high"]
        labels = [one.label for one in findings.tables[keys_of(findings).index("families")].columns]
        assert labels == ["Judges of", "elm", "oak", "yew"]
        assert row_of(findings, "families", judges="oak")["author_1"] == oak["value"]

    def test_where_it_is_excluded_the_pairs_that_are_gone_are_counted(self, columns):
        is_oak = np.array([family == "oak" for family in FAMILIES])
        has_oak = is_oak[columns.first] | is_oak[columns.second]
        kept = columns.taken(np.flatnonzero(~(has_oak & (columns.evaluator == 6))))
        n_pairs = len(np.unique(columns.item[has_oak]))

        findings = analyse("BIAS", known(kept))

        oak = row_of(findings, "own_family", family="oak")
        assert (oak["pairs"], oak["judged"], oak["value"], oak["p"]) == (n_pairs, 0, None, None)
        assert row_of(findings, "families", judges="oak")["author_1"] is None
        assert any(f"none of the {n_pairs} pairs" in one for one in findings.warnings)

    @pytest.mark.parametrize(("n_systems", "told"), [(4, ["elm", "oak"]), (2, [])])
    def test_is_said_to_be_excluded_only_where_others_judged_it(self, columns, n_systems, told):
        """Neither judge sees its own family; the first two systems are oaks."""
        sides = np.stack([columns.first, columns.second])
        own = np.where(columns.evaluator == 6, "oak", "elm")
        is_own = (np.array(FAMILIES)[sides] == own).any(axis=0)
        is_kept = ~(is_own & columns.is_judge[columns.evaluator]) & (sides < n_systems).all(axis=0)
        kept = columns.taken(np.flatnonzero(is_kept))
        judges = {"z-judge-0": "oak", "z-judge-1": "elm"}
        inputs = known(kept)

        warnings = analyse(
            "BIAS", replace(inputs, sources=replace(inputs.sources, of_judges=judges))
        ).warnings

        assert [one.split()[2] for one in warnings if "their exclusion" in one] == told

    def test_one_judge_alone_is_compared_with_nobody(self, columns):
        alone = columns.taken(np.flatnonzero(columns.evaluator == 6))

        findings = analyse("BIAS", known(alone))

        (row,) = table(findings, "families")
        assert [row[f"author_{n}"] for n in range(3)] == [None] * 3
        families = findings.tables[keys_of(findings).index("families")]
        assert "pairs that both judged" in families.caption

    def test_people_alone_have_no_families(self, columns):
        findings = analyse("BIAS", known(people_of(columns)))

        assert not {"own_family", "families", "severity"} & set(keys_of(findings))


class TestOverTime:
    def test_judges_who_never_tie_are_more_decided(self, rng):
        columns = simulate(rng, n_units=60, thresholds=(1.0, 1.6, 2.4))
        is_judge = columns.is_judge[columns.evaluator]
        decided = np.where(is_judge & (columns.strength == 0), 1, columns.strength)

        findings = analyse("BIAS", known(replace(columns, strength=decided)))

        ties = row_of(findings, "severity", figure="Ties, share")
        assert ties["judges"] == 0.0
        assert ties["high"] < 0.0
        assert ties["p"] < 0.001

    def test_agreement_leaves_out_ones_own_answers(self):
        said = [("r", 1, 1), ("r", 1, -1), ("s", 1, 1), ("t", -1, 1), ("u", -1, 1)]
        rows = [(f"d{n % 2}", 0, "a", "b", *one) for n, one in enumerate(said)]

        found = agreement(make_columns(rows))

        # Of the others of s, two say a and two b; of those of t, three of four say a.
        np.testing.assert_array_equal(found, [0.0, 0.0, math.nan, 0.0, 0.0])

    def test_people_who_tire_tie_more_and_hurry(self, rng):
        columns = simulate(rng, n_units=100)
        place = places_of(columns)
        late = rng.random(len(place)) < place / 200
        tired = replace(columns, strength=np.where(late, 0, columns.strength))
        seconds = np.exp(4.0 - 0.005 * place + 0.2 * rng.normal(size=len(place)))

        findings = analyse("BIAS", known(tired, seconds=seconds))

        hurried = row_of(findings, "fatigue", figure="Seconds, natural logarithm")
        assert hurried["low"] < -0.5 < hurried["high"]
        assert row_of(findings, "fatigue", figure="Ties, share")["low"] > 0.0
        drifted = row_of(findings, "drift", kind="People", figure="Ties, share")
        assert drifted["low"] > 0.0
        assert drifted["last"] > drifted["first"]

    def test_people_who_change_each_in_a_way_of_their_own_show_no_trend(self, rng):
        columns = simulate(rng, n_units=100, n_judges=0)
        place, own = places_of(columns), np.array([0.01, 0.01, 0.01, 0.01, -0.01, -0.01])
        noise = 0.2 * rng.normal(size=len(place))
        seconds = np.exp(4.0 + own[columns.evaluator] * place + noise)

        findings = analyse("BIAS", known(columns, seconds=seconds))

        for key in ("fatigue", "drift"):
            slower = row_of(findings, key, figure="Seconds, natural logarithm")
            assert slower["value"] > 0.2
            assert slower["low"] < 0.0
            assert slower["p"] > 0.1

    @pytest.mark.parametrize("third", [2, 3])
    def test_first_and_last_third_are_of_each_evaluator(self, third):
        said = [0] * third + [2] * 2 * third
        rows = [(f"d{n % 3}", n, "a", "b", "r", one, 1) for n, one in enumerate(said)]

        findings = analyse("BIAS", known(make_columns(rows)))

        ties = row_of(findings, "drift", kind="People", figure="Ties, share")
        assert (ties["judgments"], ties["first"], ties["last"]) == (2 * third, 1.0, 0.0)


class TestNothingToFind:
    def test_a_fair_study_is_quiet(self, rng):
        columns = simulate(rng, n_units=80)
        seconds = np.exp(4.0 + rng.normal(size=columns.n_judgments))

        findings = analyse("BIAS", known(columns, seconds=seconds))

        assert keys_of(findings) == [
            *("position", "position_each", "length", "verbosity", "own_family", "families"),
            *("severity", "drift", "fatigue"),
        ]
        named = [one.key for one in findings.tables if one.columns[0].kind == "evaluator"]
        assert named == ["position_each"]  # which pages for all leave out
        for one in findings.tables:
            for cells in table(findings, one.key):
                assert cells.get("p") is None or cells["p"] > 0.01


class TestOddStudies:
    def test_of_which_nothing_is_known_is_refused(self):
        columns = make_columns([("d", 0, "a", "b", "r", 1, 0)])

        with pytest.raises(AnalysisRefusedError, match="could have swayed"):
            analyse("BIAS", make_inputs(columns))

    @pytest.mark.parametrize(
        ("n_dialogues", "p"), [(1, None), (3, None), (12, pytest.approx(2.0**-11, abs=1e-6))]
    )
    def test_answers_alike_in_all_dialogues_have_no_interval_and_a_test_if_many(
        self, n_dialogues, p
    ):
        findings = analyse("BIAS", known(duel([1] * n_dialogues)))

        (people,) = table(findings, "position")
        assert (people["value"], people["low"], people["high"]) == (1.0, None, None)
        assert people["p"] == p

    def test_ties_alone_have_no_position(self):
        rows = [(f"d{n % 4}", n, "a", "b", "r", 0, 1) for n in range(12)]

        findings = analyse("BIAS", known(make_columns(rows)))

        assert keys_of(findings) == ["drift", "fatigue"]
        assert any("length" in one for one in findings.warnings)

    def test_a_file_has_what_needs_no_sources(self, rng):
        findings = analyse("BIAS", make_inputs(simulate(rng)))

        assert keys_of(findings) == ["position", "position_each", "length", "verbosity", "severity"]
        assert any("systems" in one for one in findings.warnings)

    def test_lengths_that_are_not_known_are_left_out(self, rng):
        columns = simulate(rng)
        lengths = columns.features.copy()
        lengths[::2, 0] = np.nan

        findings = analyse("BIAS", known(replace(columns, features=lengths)))

        everybody = row_of(findings, "verbosity", kind="All")
        assert everybody["judgments"] == (columns.item % 2 == 1).sum()
