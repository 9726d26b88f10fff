"""Boards that analyses rest on: when there is none, they say why."""

import numpy as np
import pytest

from ranking.analyses import boards
from ranking.findings import AnalysisRefusedError
from ranking.numerics.bradley_terry import NotConvergedError
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

    def test_no_judgments_are_of_no_systems(self, rng):
        nothing = simulate(rng).taken(np.array([], dtype=np.int64))

        assert refusal_of(nothing) == "There are no judgments yet."

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
