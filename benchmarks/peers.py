"""The same fit by this project and by two other libraries."""

from dataclasses import dataclass

import choix
import evalica
import numpy as np

from benchmarks import simulation
from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.strength import StrengthMode
from ranking.numerics.tables import WinTables

N_SYSTEMS = 20
PLAN = simulation.Plan(n_dialogues=300, n_pairs=28, n_each=5)  # 42,000 judgments
TOLERANCE = 1e-8
WINNERS = {1: evalica.Winner.X, -1: evalica.Winner.Y, 0: evalica.Winner.Draw}


@dataclass(frozen=True)
class Study:
    """Simulated judgments of the size of the benchmark, in the forms that the three take."""

    judgments: simulation.Judgments
    first: list[int]
    second: list[int]
    winner: list[evalica.Winner]

    @classmethod
    def draw(cls, rng: np.random.Generator) -> "Study":
        """Simulate a study."""
        drawn = simulation.draw(np.linspace(0.8, -0.8, N_SYSTEMS), PLAN, rng)
        winner = [WINNERS[int(sign)] for sign in np.sign(drawn.grade)]
        return cls(drawn, drawn.first.tolist(), drawn.second.tolist(), winner)

    def tables(self) -> WinTables:
        """Count whole wins, and ties as half a win to each side, per dialogue."""
        return simulation.tables(self.judgments, PLAN, N_SYSTEMS, StrengthMode.IGNORE)

    def by_evalica(self, times: Floats | None = None) -> Floats:
        """Fit with evalica, each dialogue counting as often as ``times`` says."""
        weights = None if times is None else times[self.judgments.unit].tolist()
        found = evalica.bradley_terry(
            self.first, self.second, self.winner, weights=weights, tolerance=TOLERANCE, limit=1_000
        )
        strengths = np.log(found.scores.sort_index().to_numpy(dtype=np.float64))
        centred: Floats = strengths - strengths.mean()
        return centred


def by_choix(wins: Floats) -> Floats:
    """Fit with choix."""
    return choix.ilsr_pairwise_dense(wins, tol=TOLERANCE)


def by_heart(wins: Floats) -> Floats:
    """Fit with this project's code, covariance included."""
    return fit_bradley_terry(wins).log_strengths
