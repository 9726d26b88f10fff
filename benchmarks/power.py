"""Whether plans keep their word, by simulation: python -m benchmarks.power [--studies N]."""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from scipy import stats

from benchmarks import simulation
from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.planning.design import contrast, needed_units, predicted_power
from ranking.numerics.sandwich import clustered_covariance
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WinTables

SEED = 20261122
N_SYSTEMS, N_PAIRS, N_EACH = 10, 28, 5
PILOT = 3_000  # source dialogues: enough for its own error not to matter
STEPS = (0.3, 0.2, 0.1)  # between neighbours, natural log
MODE = StrengthMode.SOFT
HEAD = """
10 systems evenly spaced, 28 pairs in each dialogue, 5 judgments each, soft scores.
Neighbours    mean difference of the fitted ratings, Elo points
dialogues     that a pilot's covariance says are needed for a power of 80 %
predicted     power by the pilot, mean of the nine pairs of neighbours, per cent
simulated     share of simulated studies that tell neighbours apart (standard error)

neighbours  dialogues  predicted  simulated
"""


def strengths(step: float) -> Floats:
    """Return the true strengths."""
    half = step * (N_SYSTEMS - 1) / 2
    return np.linspace(half, -half, N_SYSTEMS)


def draw(step: float, n_dialogues: int, rng: np.random.Generator) -> WinTables:
    """Simulate a study."""
    plan = simulation.Plan(n_dialogues, N_PAIRS, N_EACH)
    return simulation.tables(simulation.draw(strengths(step), plan, rng), plan, N_SYSTEMS, MODE)


def found(step: float, n_dialogues: int, number: int) -> float:
    """Simulate one study; return the share of neighbours told apart at 5 %."""
    rng = np.random.default_rng((SEED, int(1_000 * step), number))
    tables = draw(step, n_dialogues, rng)
    theta = fit_bradley_terry(tables.total()).log_strengths
    errors = clustered_covariance(tables, theta).difference_errors
    first = np.arange(N_SYSTEMS - 1)
    ratio = np.abs(theta[first] - theta[first + 1]) / errors[first, first + 1]
    return float((ratio > stats.t.ppf(0.975, n_dialogues - 1)).mean())


def _line(step: float, n_studies: int, pool: ProcessPoolExecutor) -> str:
    pilot = draw(step, PILOT, np.random.default_rng((SEED, int(1_000 * step))))
    theta = fit_bradley_terry(pilot.total()).log_strengths
    truth = simulation.limit(strengths(step), MODE)
    pairs = [(k, k + 1) for k in range(N_SYSTEMS - 1)]
    contrasts = [contrast(pilot, theta, pair) for pair in pairs]
    apart = [float(truth[a] - truth[b]) for a, b in pairs]
    middle = len(pairs) // 2
    n = needed_units(contrasts[middle], apart[middle])
    predicted = np.mean(
        [predicted_power(of, one, n) for of, one in zip(contrasts, apart, strict=True)]
    )
    shares = np.array(list(pool.map(partial(found, step, n), range(n_studies), chunksize=9)))
    error = 100 * shares.std() / n_studies**0.5
    return (
        f"{np.mean(apart) * ELO_PER_LOG_UNIT:>10.1f}  {n:>9}  {100 * predicted:>9.1f}  "
        f"{100 * shares.mean():>9.1f} ({error:.1f})\n"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1_000, help="per line of the table")
    n: int = parser.parse_args().studies
    sys.stdout.write(f"{simulation.machine()}\n{n} studies a line, seed {SEED}\n{HEAD}")
    with ProcessPoolExecutor() as pool:
        for step in STEPS:
            sys.stdout.write(_line(step, n, pool))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
