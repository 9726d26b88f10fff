"""How often intervals hold, by simulation: python -m benchmarks.ranks [--studies N]."""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks import simulation
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.bootstrap import bootstrap_strengths
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import paper_standard_errors
from ranking.numerics.few_units import expanded_intervals
from ranking.numerics.simultaneous import effective_units, rank_intervals
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WinTables

SEED = 20260105
REPLICATES = 1_000
MODES = (StrengthMode.SOFT, StrengthMode.IGNORE)
HEAD = """
How often nominal 95 % intervals miss the truth, in per cent; 5 would be right.
ranks      studies in which some system's true ranks are not all in its interval (standard error)
rating     systems outside their own bootstrap interval
published  systems outside theta +- 1.96 / sqrt(n), with soft scores and with whole wins

systems  dialogues  strengths       ranks  rating  published soft  whole
"""


@dataclass(frozen=True)
class Setting:
    """A kind of study; ``spread`` is from the best true strength to the worst, natural log."""

    n_systems: int
    n_pairs: int
    n_dialogues: int
    spread: float

    @property
    def strengths(self) -> Floats:
        """Return the true strengths, evenly spaced."""
        return np.linspace(self.spread / 2.0, -self.spread / 2.0, self.n_systems)

    @property
    def plan(self) -> simulation.Plan:
        """Return the layout."""
        return simulation.Plan(self.n_dialogues, self.n_pairs, n_each=5)


SETTINGS = [
    Setting(n_systems, n_pairs, n_dialogues, spread)
    for n_systems, n_pairs, sizes in ((5, 10, (20, 50, 150, 300)), (20, 28, (50, 300)))
    for spread in (0.0, 1.6)
    for n_dialogues in sizes
]


def missed(setting: Setting, number: int) -> tuple[float, float, float, float]:
    """Simulate one study; say whether its ranks missed, and what shares of systems did."""
    key = (SEED, setting.n_systems, setting.n_dialogues, int(10 * setting.spread), number)
    rng = np.random.default_rng(key)
    judgments = simulation.draw(setting.strengths, setting.plan, rng)
    counted = partial(simulation.tables, judgments, setting.plan, setting.n_systems)
    tables, whole = (counted(mode) for mode in MODES)
    estimate = fit_bradley_terry(tables.total()).log_strengths
    drawn = bootstrap_strengths(tables, estimate, n_replicates=REPLICATES, rng=rng).fitted()
    soft, ignored = (simulation.limit(setting.strengths, mode) for mode in MODES)
    n_units = effective_units(tables.unit_weights())
    interval = expanded_intervals(estimate, drawn, n_units=n_units)
    return (
        _ranks_missed(estimate, drawn, setting.strengths, n_units),
        float(((soft < interval.low) | (soft > interval.high)).mean()),
        _published_missed(tables, soft),
        _published_missed(whole, ignored),
    )


def _ranks_missed(estimate: Floats, drawn: Floats, strengths: Floats, n_units: Integers) -> float:
    """Return 1 if an interval leaves out a rank that its system has, alone or in a tie."""
    ranks = rank_intervals(estimate, drawn, n_units=n_units)
    best = 1 + (strengths[None, :] > strengths[:, None]).sum(axis=1)
    worst = len(strengths) - (strengths[None, :] < strengths[:, None]).sum(axis=1)
    return float(((ranks.best > best) | (ranks.worst < worst)).any())


def _published_missed(tables: WinTables, truth: Floats) -> float:
    wins = tables.total()
    errors = paper_standard_errors((wins + wins.T).sum(axis=1))
    return float((np.abs(fit_bradley_terry(wins).log_strengths - truth) > 1.96 * errors).mean())


def _line(setting: Setting, n_studies: int, pool: ProcessPoolExecutor) -> str:
    found = np.array(list(pool.map(partial(missed, setting), range(n_studies), chunksize=9)))
    (ranks, rating, soft, whole), error = 100 * found.mean(0), 100 * found[:, 0].std()
    kind = "apart" if setting.spread else "equal"
    return (
        f"{setting.n_systems:>7}  {setting.n_dialogues:>9}  {kind:>9}  "
        f"{ranks:>4.1f} ({error / n_studies**0.5:.1f})  "
        f"{rating:>6.1f}  {soft:>14.1f}  {whole:>5.1f}\n"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1_000, help="per line of the table")
    parser.add_argument("--equal", action="store_true", help="equal strengths alone")
    options = parser.parse_args()
    n: int = options.studies
    sys.stdout.write(f"{simulation.machine()}\n{n} studies a line, seed {SEED}\n{HEAD}")
    with ProcessPoolExecutor() as pool:
        for setting in SETTINGS:
            if options.equal and setting.spread:
                continue
            sys.stdout.write(_line(setting, n, pool))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
