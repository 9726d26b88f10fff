"""Cells of tables: what an interval says, and what it leaves out."""

import numpy as np
import pytest

from ranking.analyses import FEWEST_DIALOGUES
from ranking.analyses.bias.cells import adjusted
from ranking.analyses.common import adjusted_tests, decimal, ends, interval_cells, share_cells
from ranking.findings import ColumnKind
from ranking.numerics.clustered_means import clustered_mean

UNIT = np.repeat(np.arange(FEWEST_DIALOGUES), 2)
VALUES = np.array([0.0, 1.0, 1.0, 1.0] * (FEWEST_DIALOGUES // 2))


def test_the_head_of_an_interval_says_how_sure_it_is():
    low, high = ends(0.9, ColumnKind.ELO)

    assert (low.key, low.label, high.key, high.label) == ("low", "90 % from", "high", "to")
    assert low.kind == high.kind == ColumnKind.ELO
    assert ends(0.95)[0].label == "95 % from"


def test_an_interval_is_that_of_the_mean_so_many_times_as_large():
    mean = clustered_mean(VALUES, UNIT)
    low, high = mean.interval(0.9)

    cells = interval_cells(mean, 0.9, times=-10.0)

    assert cells == tuple(decimal(-10 * one) for one in (mean.mean, low, high))


def test_shares_end_at_one():
    mean = clustered_mean(VALUES, UNIT)
    assert mean.interval(0.9999)[1] > 1.0

    value, low, high = share_cells(mean, 0.9999)

    assert (value, high) == (decimal(mean.mean), 1.0)
    assert low is not None


@pytest.mark.parametrize("cells", [interval_cells, share_cells])
def test_dialogues_that_do_not_differ_tell_of_no_interval(cells):
    assert cells(clustered_mean(np.ones(len(UNIT)), UNIT), 0.95) == (1.0, None, None)


@pytest.mark.parametrize("cells", [interval_cells, share_cells])
def test_too_few_dialogues_tell_nothing(cells):
    few = UNIT < FEWEST_DIALOGUES - 1

    assert cells(clustered_mean(VALUES[few], UNIT[few]), 0.95) == (None, None, None)


def test_tests_on_too_few_dialogues_are_left_out_of_their_family():
    few = UNIT < FEWEST_DIALOGUES - 1
    enough = clustered_mean(VALUES, UNIT)

    found = adjusted_tests([clustered_mean(VALUES[few], UNIT[few]), enough, None])

    assert found == [None, pytest.approx(enough.p_value()), None]


@pytest.mark.parametrize("gap", [2.0, 2 / 3, -0.1])
def test_a_gap_alike_in_all_dialogues_has_a_p_value_however_it_is_rounded(gap):
    found = adjusted([clustered_mean(np.full(len(UNIT), gap), UNIT)])

    assert found == [decimal(2.0 ** (1 - FEWEST_DIALOGUES), 6)]


def test_what_is_nothing_in_every_dialogue_is_not_among_the_tests():
    nothing, some = (clustered_mean(one, UNIT) for one in (0.0 * VALUES, VALUES))

    assert adjusted([nothing, some]) == [None, decimal(some.p_value(), 6)]


@pytest.mark.parametrize("cells", [interval_cells, share_cells])
def test_what_is_not_known_leaves_its_cells_empty(cells):
    assert cells(None, 0.95) == (None, None, None)
