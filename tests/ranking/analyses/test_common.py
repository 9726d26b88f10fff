"""What analyses have in common: the board they rest on, and the cells of their tables."""

import numpy as np
import pytest

from ranking.analyses import FEWEST_DIALOGUES, boards
from ranking.analyses.bias_order import adjusted
from ranking.analyses.common import adjusted_tests, decimal, ends, interval_cells, share_cells
from ranking.findings import AnalysisRefusedError, ColumnKind
from ranking.numerics.bradley_terry import NotConvergedError
from ranking.numerics.clustered_means import clustered_mean
from tests.ranking.analyses.helpers import make_columns, make_inputs, simulate

METHOD = make_inputs(None).method


def refusal_of(columns):
    with pytest.raises(AnalysisRefusedError) as refusal:
        boards.rated(columns, METHOD)
    return str(refusal.value)


class TestRated:
    def test_resamples_come_again(self, rng):
        columns = simulate(rng)

        one, other = (boards.rated(columns, METHOD) for _ in range(2))

        np.testing.assert_array_equal(one.resampled, other.resampled)
        assert one.resampled.shape == (METHOD.replicates, len(columns.systems))

    def test_a_chain_that_any_missing_dialogue_breaks_has_no_interval(self):
        # All of twelve dialogues are in one resample of twenty thousand.
        rows = [(f"d{n:02d}", n, f"s{n:02d}", f"s{n + 1:02d}", "r", 2, 1) for n in range(12)]

        assert "no interval" in refusal_of(make_columns(rows))

    def test_a_search_that_does_not_end_is_said_to(self, rng, monkeypatch):
        def never(*args, **kwargs):
            msg = "no optimum"
            raise NotConvergedError(msg)

        monkeypatch.setattr(boards, "fit_bradley_terry", never)

        assert "did not end" in refusal_of(simulate(rng))

    def test_resamples_that_leave_systems_unconnected_are_counted(self):
        rows = [
            (f"d{n}", n, *pair, "r", 2, 1)
            for n, pair in enumerate([("a", "b"), ("a", "b"), ("b", "c"), ("b", "c")])
        ]

        board = boards.rated(make_columns(rows), METHOD)

        assert board.n_without_maximum == METHOD.replicates - len(board.resampled) > 0
        (warning,) = boards.few_resamples_warning(board)
        assert warning.startswith(f"{board.n_without_maximum} of 100 resamples")


UNIT = np.repeat(np.arange(FEWEST_DIALOGUES), 2)
FEW = UNIT < FEWEST_DIALOGUES - 1
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
@pytest.mark.parametrize(
    ("mean", "shown"),
    [
        (None, (None, None, None)),
        (clustered_mean(VALUES[FEW], UNIT[FEW]), (None, None, None)),
        (clustered_mean(np.ones(len(UNIT)), UNIT), (1.0, None, None)),
    ],
    ids=["not known", "too few dialogues", "dialogues that do not differ"],
)
def test_what_is_not_known_leaves_its_cells_empty(cells, mean, shown):
    assert cells(mean, 0.95) == shown


def test_tests_on_too_few_dialogues_are_left_out_of_their_family():
    few, enough = clustered_mean(VALUES[FEW], UNIT[FEW]), clustered_mean(VALUES, UNIT)

    found = adjusted_tests([few, enough, None])

    assert found == [None, pytest.approx(enough.p_value()), None]


@pytest.mark.parametrize("gap", [2.0, 2 / 3, -0.1])
def test_a_gap_alike_in_all_dialogues_has_a_p_value_however_it_is_rounded(gap):
    found = adjusted([clustered_mean(np.full(len(UNIT), gap), UNIT)])

    assert found == [decimal(2.0 ** (1 - FEWEST_DIALOGUES), 6)]


def test_what_is_nothing_in_every_dialogue_is_not_among_the_tests():
    nothing, some = (clustered_mean(one, UNIT) for one in (0.0 * VALUES, VALUES))

    assert adjusted([nothing, some]) == [None, decimal(some.p_value(), 6)]
