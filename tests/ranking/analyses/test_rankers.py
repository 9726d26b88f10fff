"""Other rankers as readers see them."""

import pytest

from ranking.analyses import analyse, rankers
from tests.ranking.analyses.helpers import make_columns, make_inputs, simulate, table

NAMES = ("bradley_terry", "win_rate", "online_elo", "skill", "pagerank", "eigenvector")


class TestRankers:
    def test_agree_where_the_order_is_clear(self, rng):
        columns = simulate(rng, theta=(2.0, 0.7, -0.7, -2.0), n_units=80)

        found = analyse("RANKERS", make_inputs(columns))

        for place, row in enumerate(table(found, "ranks")):
            assert row == {"system": f"system-{place}", **dict.fromkeys(NAMES, place + 1)}
        assert {row["tau"] for row in table(found, "agreement")} == {1.0}
        assert found.is_exploratory

    def test_have_nothing_to_agree_on_where_all_are_equal(self):
        rows = [(f"d{n}", n, "ab"[n % 2], "ba"[n % 2], "r", 0, 1) for n in range(6)]

        found = analyse("RANKERS", make_inputs(make_columns(rows)))

        assert {row["tau"] for row in table(found, "agreement")} == {None}
        assert {row["win_rate"] for row in table(found, "figures")} == {0.5}

    def test_say_that_they_rest_on_a_sample(self, rng, monkeypatch):
        monkeypatch.setattr(rankers, "MOST_SKILL", 100)
        columns = simulate(rng)

        found = analyse("RANKERS", make_inputs(columns))

        warning = "Of 640 judgments 100 drawn at random are used for OpenSkill."
        assert found.warnings == (warning,)

    def test_say_which_of_them_leave_declared_masses_out(self, rng):
        found = analyse("RANKERS", make_inputs(simulate(rng), masses=(1.0, 3.0)))

        assert any("Online Elo and OpenSkill count" in warning for warning in found.warnings)

    def test_keep_online_elo_near_the_ratings_after_many_judgments(self, rng):
        found = analyse("RANKERS", make_inputs(simulate(rng, n_units=300)))

        for row in table(found, "figures"):
            assert row["online_elo"] == pytest.approx(row["bradley_terry"], abs=15)
