"""The simulation behind the table of coverage."""

import numpy as np
import pytest

from benchmarks import coverage
from ranking.numerics.strength_mode import StrengthMode

STRENGTHS = coverage.true_strengths(None)
PUBLISHED, FISHER, SANDWICH, BOOTSTRAP = range(4)


class TestCoverage:
    def test_even_strengths_are_as_far_apart_as_the_published(self):
        assert np.ptp(STRENGTHS) * 400 / np.log(10) == pytest.approx(268.7)

    def test_published_strengths_are_read_from_their_column(self, tmp_path):
        path = tmp_path / "board.csv"
        path.write_text("system,elo\na,1600\nb,1400\n", encoding="utf-8")

        found = coverage.true_strengths(path)

        # 100 points each side of the mean
        np.testing.assert_allclose(10.0 ** (found * 400 / np.log(10) / 100), [10.0, 0.1])

    def test_the_same_study_comes_out_the_same(self):
        one, other = (coverage.simulate(STRENGTHS, 20, 3) for _ in range(2))

        assert one == other

    def test_intervals_by_dialogue_hold_where_the_others_do_not(self):
        studies = [coverage.simulate(STRENGTHS, 30, number) for number in range(5)]

        held = np.mean([study[StrengthMode.MULTIPLY] for study in studies], axis=0)

        assert min(held[SANDWICH], held[BOOTSTRAP]) > 0.85
        assert max(held[PUBLISHED], held[FISHER]) < 0.6
