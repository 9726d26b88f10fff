"""The simulations that the documented figures come from."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from benchmarks import coded, coverage, ranks, simulation
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.strength_mode import StrengthMode

STRENGTHS = np.array([0.8, 0.1, -0.9])
PLAN = simulation.Plan(n_dialogues=20_000, n_pairs=2, n_each=3)
SMALL = ranks.Setting(n_systems=4, n_pairs=6, n_dialogues=30, spread=1.0)


class TestSimulation:
    def test_lays_each_dialogue_out_as_planned(self, rng):
        plan = simulation.Plan(n_dialogues=50, n_pairs=2, n_each=3)

        drawn = simulation.draw(STRENGTHS, plan, rng)

        pairs = {*zip(drawn.unit, drawn.first, drawn.second, strict=True)}
        assert (len(drawn.grade), len(pairs)) == (300, 100)
        assert set(drawn.grade) == {-2, -1, 0, 1, 2}

    @pytest.mark.parametrize("mode", StrengthMode)
    def test_fits_of_many_judgments_come_close_to_the_limit(self, rng, mode):
        drawn = simulation.draw(STRENGTHS, PLAN, rng)

        wins = simulation.tables(drawn, PLAN, len(STRENGTHS), mode).total()

        limit = simulation.limit(STRENGTHS, mode)
        # 0.03 is four standard errors of the widest mode
        np.testing.assert_allclose(fit_bradley_terry(wins).log_strengths, limit, atol=0.03)

    def test_judgments_of_one_dialogue_hang_together(self, rng):
        plan = simulation.Plan(n_dialogues=4_000, n_pairs=1, n_each=2)

        grades = simulation.draw(np.zeros(2), plan, rng).grade.reshape(-1, 2)

        assert np.corrcoef(*grades.T).min() > 0.15


class TestRanks:
    def test_a_study_gives_shares_that_can_be_averaged_and_the_same_each_time(self):
        found = np.array([ranks.missed(SMALL, number) for number in range(5)])

        assert ((found >= 0.0) & (found <= 1.0)).all()
        assert set(found[:, 0]) <= {0.0, 1.0}
        assert ranks.missed(SMALL, 3) == pytest.approx(tuple(found[3]), abs=0)


@pytest.fixture(scope="module")
def ranking():
    return import_module("benchmarks.ranking")  # loads pandas


class TestRanking:
    SIZE = coded.Size(n_judgments=2_000, n_systems=5, n_units=20)

    def test_all_contestants_solve_the_same_problem(self, ranking, rng):
        pairs = coded.draw(self.SIZE, rng)
        bootstrap = ranking.contests(pairs, self.SIZE, n_samples=1)["bootstrap"]
        found, peer = (bootstrap[name][0]() for name in ("HEART", "NumPy"))

        assert ranking.largest_difference(pairs, self.SIZE) < 1e-6
        assert ranking.largest_error(pairs, self.SIZE, 70) < 3e-9
        np.testing.assert_allclose(found, peer, atol=1e-6)

    def test_every_contestant_has_something_to_do_and_is_in_the_report(
        self, ranking, rng, capsys, monkeypatch
    ):
        monkeypatch.setitem(ranking.SIZES, "a", self.SIZE)

        found = ranking.contests(coded.draw(self.SIZE, rng), self.SIZE, n_samples=1)
        ranking.report("a", n_rounds=1)

        assert {*found} == {"fit", "bootstrap"}
        for contest in found.values():
            assert all(taken > 0.0 for taken in ranking.medians(contest, 1).values())
        written = capsys.readouterr().out
        assert all(name in written for name in ("HEART", "NumPy", "choix", "evalica"))


class TestLlm:
    def test_the_chosen_pool_is_the_one_that_compose_starts(self):
        llm = import_module("benchmarks.llm")  # loads Redis' client
        compose = (Path(__file__).parents[3] / "docker-compose.yml").read_text(encoding="utf-8")
        n_processes = llm.POOLS[llm.CHOSEN].options[-1]

        assert f'"-n", "llm@%h", "-c", "{n_processes}"' in compose


PUBLISHED, FISHER, SANDWICH, BOOTSTRAP = range(4)


class TestCoverage:
    EVEN = coverage.true_strengths(None)

    def test_published_strengths_are_read_from_their_column(self, tmp_path):
        path = tmp_path / "board.csv"
        path.write_text("system,elo\na,1600\nb,1400\n", encoding="utf-8")

        found = coverage.true_strengths(path)

        # 100 points each side of the mean
        np.testing.assert_allclose(10.0 ** (found * 400 / np.log(10) / 100), [10.0, 0.1])

    def test_intervals_by_dialogue_hold_where_the_others_do_not(self):
        studies = [coverage.simulate(self.EVEN, 30, number) for number in range(5)]

        held = np.mean([study[StrengthMode.MULTIPLY] for study in studies], axis=0)

        assert min(held[SANDWICH], held[BOOTSTRAP]) > 0.85
        assert max(held[PUBLISHED], held[FISHER]) < 0.6
