"""Counts and sums of judgments give the weighted wins of single ones, and ratings imply judgments.

Shown by hand, by a peer, by properties, and on what is too little.
"""

import dataclasses
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from ranking.fits.estimate import EstimateRefusedError, estimate_ratings
from ranking.judgments.groups import GroupedJudgments, PairCounts
from ranking.judgments.method import Method
from ranking.judgments.scores import implied_columns, implied_groups, implied_on
from ranking.judgments.tallies import outcomes, win_tables
from ranking.numerics.strength import grade_to_strength, shares
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WeightedPairs, tabulate
from tests.helpers.scores import make_scores, simulate_scores

N_UNITS, N_SYSTEMS, N = 4, 3, 200


def told(scores):
    """Who is preferred to whom, by whom: (evaluator, dialogue, first, second, strength)."""
    found = implied_columns(scores)
    return sorted(
        (
            found.evaluators[found.evaluator[row]],
            found.units[found.unit[row]],
            found.systems[found.first[row]],
            found.systems[found.second[row]],
            int(found.strength[row]),
        )
        for row in range(found.n_judgments)
    )


def rated_alone(n_dialogues):
    """Return ratings of one message a dialogue, which imply no pair."""
    return [(f"c{n}", 100 + n, "ab"[n % 2], "ann", (3, 3)) for n in range(n_dialogues)]


def rated_together(n_dialogues):
    """Return ratings of two messages a dialogue, now the one ahead and now the other."""
    return [
        (f"d{n}", n, system, "ann", (4 if (n % 3 > 0) == (system == "a") else 2, 3))
        for n in range(n_dialogues)
        for system in "ab"
    ]


def implied(rows):
    return implied_groups(make_scores(rows), newest=1, sum_of_keys=1)


def estimated(rows):
    return estimate_ratings(implied(rows), Method(StrengthMode.IGNORE, 2, 4, 0.95, 50, 1))


@pytest.fixture
def planted(rng):
    return simulate_scores(rng, quality=(2.0, 3.0, 4.0), n_dialogues=12, n_judges=2)


class TestImpliedColumns:
    def test_by_hand(self):
        scores = make_scores(
            [
                ("d", 0, "b", "ann", (4, 4)),
                ("d", 0, "a", "ann", (5, 2)),
                ("d", 0, "c", "ann", (3, 4)),
                ("d", 0, "a", "bob", (1, 1)),
                ("d", 0, "b", "bob", (1, 1)),
                ("d", 1, "c", "bob", (5, 5)),
                ("e", 2, "a", "cat", (1, 2)),
            ]
        )

        assert told(scores) == [
            ("ann", "d", "a", "b", -1),
            ("ann", "d", "a", "c", 0),
            ("ann", "d", "b", "c", 1),
            ("bob", "d", "a", "b", 0),
        ]

    def test_agrees_with_pairs_looked_for_one_by_one(self, planted):
        expected = []
        for one, other in combinations(range(planted.n), 2):
            alike = all(
                column[one] == column[other] for column in (planted.evaluator, planted.context)
            )
            first, second = sorted((one, other), key=lambda row: planted.system[row])
            if alike and planted.system[first] != planted.system[second]:
                lead = int(np.sign(planted.points[first].sum() - planted.points[second].sum()))
                names = (planted.systems[planted.system[row]] for row in (first, second))
                who = planted.evaluators[planted.evaluator[one]]
                expected.append((who, planted.units[planted.unit[one]], *names, lead))

        assert told(planted) == sorted(expected)

    def test_who_is_strict_and_how_far_scores_spread_changes_nothing(self, planted):
        """Any increasing change of an evaluator's scale leaves the order as it is."""
        of_ann = planted.evaluator == 0
        moved = np.where(of_ann[:, None], 7 * planted.points + 3, planted.points)
        changed = type(planted)(**vars(planted) | {"points": moved})

        assert told(changed) == told(planted)

    def test_the_order_of_rows_does_not_matter(self, planted, rng):
        rows = rng.permutation(planted.n)
        names = ("unit", "context", "message", "system", "evaluator", "points")
        mixed = type(planted)(
            **vars(planted) | {name: getattr(planted, name)[rows] for name in names}
        )

        assert told(mixed) == told(planted)

    def test_a_rating_that_lacks_a_dimension_counts_on_the_others_alone(self):
        points = {"a": (5, 0), "b": (2, 2), "c": (1, 1)}
        scores = make_scores([("d", 0, system, "ann", given) for system, given in points.items()])

        assert told(scores) == [("ann", "d", "b", "c", 1)]
        assert implied_on(scores, 0).n_judgments == 3

    def test_two_messages_of_one_system_are_not_compared(self):
        scores = make_scores([("d", 0, "a", "ann", (5, 5)), ("d", 0, "a", "ann", (1, 1))])

        assert implied_columns(scores).n_judgments == 0

    def test_the_same_pair_of_messages_is_one_item(self, planted):
        found = implied_columns(planted)

        pairs = {
            (planted.units[found.unit[row]], int(found.first[row]), int(found.second[row]))
            for row in range(found.n_judgments)
        }
        assert found.n_items == len(pairs)


class TestImpliedGroups:
    def test_adds_up_what_is_told(self, planted):
        groups = implied_groups(planted, newest=9, sum_of_keys=45)

        counts, expected = Counter[tuple[int, ...]](), Counter[tuple[int, ...]]()
        for row in range(len(groups.counts.n)):
            one = groups.counts
            pair = (one.unit[row], one.first[row], one.second[row], one.is_judge[row])
            counts[pair] += one.n[row]
            expected_size = (one.n_first[row], one.n_second[row])
            assert (one.size_first[row], one.size_second[row]) == expected_size
        for who, unit, first, second, _ in told(planted):
            place = planted.systems.index
            is_judge = who.startswith("judge")
            expected[planted.units.index(unit), place(first), place(second), is_judge] += 1
        assert counts == expected
        assert not groups.counts.is_graded.any()

    def test_counts_ratings_and_not_pairs(self, planted):
        groups = implied_groups(planted, newest=9, sum_of_keys=45)

        assert groups.n_judgments == planted.n
        assert str(groups.stamp) == f"{planted.n}:9:0:45"
        assert int(groups.counts.n.sum()) == len(told(planted))

    def test_marks_are_of_the_pairs_that_differ_on_a_dimension(self):
        points = {"a": (5, 2), "b": (2, 2), "c": (2, 1)}

        found = implied([("d", 0, system, "ann", given) for system, given in points.items()])

        marks = {(one.system, one.dimension): (one.wins, one.n_marks) for one in found.marks}
        assert marks == {
            ("a", "W"): (2, 2),
            ("b", "W"): (0, 1),
            ("c", "W"): (0, 1),
            ("a", "S"): (1, 1),
            ("b", "S"): (1, 1),
            ("c", "S"): (0, 2),
        }

    def test_a_point_more_is_another_hash_though_the_order_is_the_same(self):
        rows = [("d", 0, "a", "ann", (4, 4)), ("d", 0, "b", "ann", (2, 2))]
        higher = [("d", 0, "a", "ann", (5, 4)), ("d", 0, "b", "ann", (2, 2))]

        one, other = implied(rows), implied(higher)

        assert list(one.counts.parts()) == list(other.counts.parts())
        assert one.inputs_hash() != other.inputs_hash()

    def test_without_pairs_there_are_still_systems_and_dialogues(self):
        groups = implied([("d", 0, "a", "ann", (4, 4)), ("e", 1, "b", "bob", (2, 2))])

        assert (groups.systems, groups.dialogues) == (("a", "b"), ("d", "e"))
        assert (groups.n_judgments, len(groups.counts.n), groups.marks) == (2, 0, ())

    def test_dialogues_without_a_pair_are_no_units_and_systems_without_one_stay(self):
        rows = [*rated_alone(3), *rated_together(2), ("d0", 0, "c", "bob", (2, 2))]

        columns, groups = implied_columns(make_scores(rows)), implied(rows)

        assert columns.units == groups.dialogues == ("d0", "d1")
        assert columns.systems == groups.systems == ("a", "b", "c")
        assert groups.counts.unit.tolist() == columns.unit.tolist() == [0, 1]


class TestFits:
    def test_dialogues_without_a_pair_change_no_rating(self):
        alone = estimated(rated_together(12))
        found = estimated([*rated_alone(48), *rated_together(12)])

        for one, other in ((found.elo, alone.elo), (found.elo_se, alone.elo_se)):
            np.testing.assert_array_equal(one, other)
        assert found.diagnostics == alone.diagnostics
        assert found.diagnostics["is_corrected_for_few_units"]
        assert found.diagnostics["warnings"][0].startswith("Only 12 source dialogues")

    def test_pairs_in_one_dialogue_alone_are_refused(self):
        with pytest.raises(EstimateRefusedError, match="on one source dialogue"):
            estimated([*rated_alone(5), *rated_together(1)])

    def test_a_system_without_a_pair_leaves_two_groups(self):
        with pytest.raises(EstimateRefusedError, match="these 2 groups") as caught:
            estimated([*rated_together(6), ("d0", 0, "c", "bob", (2, 2))])

        assert caught.value.components == [["a", "b"], ["c"]]


@pytest.fixture
def method():
    return Method(StrengthMode.SOFT, slightly=2, much=4, level=0.95, replicates=10, seed=1)


def draw(seed=7):
    """Single judgments: dialogue, pair, whether graded and by a judge, verdict."""
    rng = np.random.default_rng(seed)
    pairs = np.array([(0, 1), (1, 0), (1, 2), (2, 0)])[rng.integers(4, size=N)]
    graded = rng.random(N) < 0.5
    verdict = np.where(graded, rng.integers(-2, 3, size=N), rng.choice([-5, -3, -1, 2, 4], size=N))
    return rng.integers(N_UNITS, size=N), *pairs.T, graded, rng.random(N) < 0.5, verdict


def rows_of(unit, first, second, graded, judged, verdict):
    won, lost = verdict > 0, verdict < 0
    sizes = np.maximum(verdict, 0), np.maximum(-verdict, 0)
    rows = (unit, first, second, graded, judged, np.ones_like(unit), won, lost, *sizes)
    return np.stack(rows, axis=1).astype(np.int64)


def grouped(rows):
    names = tuple("abc"), tuple(f"dialogue-{index}" for index in range(N_UNITS))
    return GroupedJudgments(*names, PairCounts.added_up(rows.T))


@pytest.mark.parametrize("mode", StrengthMode)
def test_every_mode_splits_sums_as_it_splits_judgments(mode, method):
    unit, first, second, graded, judged, verdict = draw()
    strength = np.where(graded, 0, verdict)
    strength[graded] = grade_to_strength(verdict[graded], slightly=2, much=4)
    split = shares(strength, mode)
    pairs = WeightedPairs(unit, first, second, split.first, split.second)
    expected = tabulate(pairs, n_units=N_UNITS, n_systems=N_SYSTEMS)

    judgments = grouped(rows_of(unit, first, second, graded, judged, verdict))
    found = win_tables(judgments, dataclasses.replace(method, strength=mode))

    each = np.eye(N_UNITS)
    np.testing.assert_allclose(found.weighted(each), expected.weighted(each), rtol=1e-12)


def test_outcomes_count_judgments_whatever_their_strength():
    columns = draw()
    first, second, verdict = columns[1], columns[2], columns[-1]

    found = outcomes(grouped(rows_of(*columns)))

    won = np.where(verdict > 0, first, second)[verdict != 0]
    tied = np.concatenate([first[verdict == 0], second[verdict == 0]])
    assert found.wins.tolist() == np.bincount(won, minlength=N_SYSTEMS).tolist()
    assert found.ties.tolist() == np.bincount(tied, minlength=N_SYSTEMS).tolist()
    assert (found.wins + found.losses + found.ties).sum() == 2 * N


def test_the_order_of_rows_changes_neither_hash_nor_tables(method):
    rows = rows_of(*draw())
    shuffled = np.random.default_rng(3).permutation(rows)

    one, other = grouped(rows), grouped(shuffled)

    assert one.inputs_hash() == other.inputs_hash()
    assert np.array_equal(win_tables(one, method).total(), win_tables(other, method).total())


@pytest.mark.parametrize("column", range(10))
def test_the_hash_covers_every_column(column):
    rows = rows_of(*draw())[:20]
    changed = rows.copy()
    changed[0, column] = 1 - changed[0, column] if column in (3, 4) else changed[0, column] + 1

    assert grouped(rows).inputs_hash() != grouped(changed).inputs_hash()


def test_masses_share_what_all_judgments_weigh(method):
    judgments = grouped(rows_of(*draw()))
    declared = dataclasses.replace(method, masses=(1.0, 3.0))

    total = win_tables(judgments, declared).total().sum()

    assert total == pytest.approx(N)


def test_no_judgments_are_added_up_to_none():
    counts = PairCounts.added_up(np.empty((10, 0), dtype=np.int64))

    assert len(counts.n) == 0


@pytest.mark.parametrize("seed", [67, 77, 111, 131, 146, 156, 182])
def test_systems_with_the_same_record_have_the_same_rank(seed):
    """However the search for their ratings rounds."""
    rng = np.random.default_rng(seed)
    pairs = np.array(list(combinations(range(5), 2)))
    wins = rng.integers(1, 9, (5, 5))
    wins[1, 2:], wins[2:, 1], wins[0, 1] = wins[0, 2:], wins[2:, 0], wins[1, 0]
    unit, (one, other) = np.repeat(np.arange(3), len(pairs)), np.tile(pairs, (3, 1)).T
    won, lost, none = wins[one, other], wins[other, one], np.zeros_like(unit) > 0
    counts = PairCounts(unit, one, other, none, none, won + lost, won, lost, won, lost)

    found = estimate_ratings(
        GroupedJudgments(tuple("abcde"), tuple("uvw"), counts),
        Method(StrengthMode.IGNORE, 2, 4, 0.95, 20, 1),
    )

    assert found.rank[0] == found.rank[1]
    assert ((found.rank_low <= found.rank) & (found.rank <= found.rank_high)).all()
