"""Numbers of judgments in closed form."""

import numpy as np
import pytest

from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.planning.closed_form import (
    design_effect,
    judgments_per_pair,
)


class TestJudgmentsPerPair:
    def test_are_783_for_55_per_cent(self):
        """p = 0.55 (34.9 Elo points), 5 % two-sided, power 80 %."""
        assert judgments_per_pair(0.55) == 783
        assert np.log(0.55 / 0.45) * ELO_PER_LOG_UNIT == pytest.approx(34.9, abs=0.05)

    def test_grow_by_the_design_effect(self):
        assert judgments_per_pair(0.55, design_effect=design_effect(5, 0.4)) == 2035

    def test_reach_the_power_in_simulation(self, rng):
        won = rng.binomial(783, 0.55, size=20_000)

        found = np.abs(won - 783 / 2) > 1.959964 * np.sqrt(783) / 2

        assert found.mean() == pytest.approx(0.8, abs=0.02)

    @pytest.mark.parametrize(
        "wrong",
        [{"share": 0.5}, {"share": 1.0}, {"power": 1.0}, {"level": 0.0}, {"design_effect": 0.0}],
        ids=str,
    )
    def test_refuse_what_is_out_of_range(self, wrong):
        with pytest.raises(ValueError, match=r"must|needs"):
            judgments_per_pair(**{"share": 0.6, **wrong})


class TestDesignEffect:
    def test_is_1_for_one_judgment_or_no_correlation(self):
        assert design_effect(1, 0.9) == design_effect(8, 0.0) == 1.0

    def test_is_the_number_of_judgments_when_all_are_the_same(self):
        assert design_effect(5, 1.0) == 5.0

    @pytest.mark.parametrize(("m", "rho"), [(0.5, 0.1), (3, 1.1), (3, -0.5), (2, np.nan)])
    def test_refuses_what_cannot_be(self, m, rho):
        with pytest.raises(ValueError, match="no design effect"):
            design_effect(m, rho)
