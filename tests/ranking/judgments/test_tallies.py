"""Weighted wins from counts and sums are those of the single judgments."""

import dataclasses

import numpy as np
import pytest

from ranking.judgments.groups import GroupedJudgments, PairCounts
from ranking.judgments.method import Method
from ranking.judgments.tallies import outcomes, win_tables
from ranking.numerics.strength import grade_to_strength, shares
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WeightedPairs, tabulate

N_UNITS, N_SYSTEMS, N = 4, 3, 200


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
