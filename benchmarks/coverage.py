"""How often intervals hold, by simulation: python -m benchmarks.coverage [--studies N]."""

import argparse
import csv
import sys
import time
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks import simulation
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.bootstrap import bootstrap_strengths
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import ELO_PER_LOG_UNIT, paper_standard_errors
from ranking.numerics.few_units import expanded_intervals, robust_covariance
from ranking.numerics.sandwich import fisher_covariance
from ranking.numerics.simultaneous import effective_units, joint_intervals, rank_intervals
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WinTables

SEED = 20261122
REPLICATES = 500
NORMAL = 1.959964
SPREAD = 268.7  # Elo points from the best published system to the last
N_SYSTEMS, N_PAIRS, N_EACH = 18, 28, 5
DIALOGUES = (300, 50, 30, 20)
HEAD = """
Per cent of nominal 95 % intervals that hold.
published  theta +- 1.96 / sqrt(n)                                 } of single
fisher     theta +- 1.96 standard errors of the model              } systems
sandwich   clustered by dialogue, t; below 50 dialogues corrected  }
bootstrap  of dialogues, percentiles; expanded for few             }
at once    studies in which the bootstrap intervals of all systems hold together
joint      the same of the simultaneous intervals
ranks      studies in which every system's true rank is in its interval

dialogues  strength  studies  published  fisher  sandwich  bootstrap  at once  joint  ranks
"""


def held(truth: Floats, tables: WinTables, rng: np.random.Generator) -> list[float]:
    """Return the shares of intervals that hold ``truth``, in the order of the table."""
    wins = tables.total()
    estimate = fit_bradley_terry(wins).log_strengths
    drawn = bootstrap_strengths(tables, estimate, n_replicates=REPLICATES, rng=rng).fitted()
    error = np.abs(estimate - truth)
    fisher = np.sqrt(fisher_covariance(tables, estimate).diagonal())
    sandwich = robust_covariance(tables, estimate).intervals(estimate)
    n_units = effective_units(tables.unit_weights())
    percentile = expanded_intervals(estimate, drawn, n_units=n_units)
    joint = joint_intervals(estimate, drawn, n_units=n_units)
    inside = (percentile.low <= truth) & (truth <= percentile.high)
    return [
        (error <= NORMAL * paper_standard_errors((wins + wins.T).sum(axis=1))).mean(),
        (error <= NORMAL * fisher).mean(),
        ((sandwich.low <= truth) & (truth <= sandwich.high)).mean(),
        inside.mean(),
        inside.all(),
        ((joint.low <= truth) & (truth <= joint.high)).all(),
        _ranks_held(truth, estimate, drawn, n_units),
    ]


def _ranks_held(truth: Floats, estimate: Floats, drawn: Floats, n_units: Integers) -> bool:
    ranks = rank_intervals(estimate, drawn, n_units=n_units)
    true = 1 + (truth[None, :] > truth[:, None]).sum(axis=1)
    return bool(((ranks.best <= true) & (true <= ranks.worst)).all())


def simulate(strengths: Floats, n_dialogues: int, number: int) -> dict[StrengthMode, list[float]]:
    """Draw one study, and look at it under each strength mode."""
    rng = np.random.default_rng((SEED, n_dialogues, number))
    plan = simulation.Plan(n_dialogues, N_PAIRS, N_EACH)
    judgments = simulation.draw(strengths, plan, rng)
    return {
        mode: held(
            simulation.limit(strengths, mode),
            simulation.tables(judgments, plan, len(strengths), mode),
            rng,
        )
        for mode in StrengthMode
    }


def true_strengths(leaderboard: Path | None) -> Floats:
    """Return the published strengths from a file with a column ``elo``, or even ones."""
    if leaderboard is None:
        elo = np.linspace(SPREAD / 2.0, -SPREAD / 2.0, N_SYSTEMS)
    else:
        with leaderboard.open(encoding="utf-8", newline="") as file:
            elo = np.array([float(row["elo"]) for row in csv.DictReader(file)])
    strengths: Floats = (elo - elo.mean()) / ELO_PER_LOG_UNIT
    return strengths


def main() -> None:
    """Simulate until there are enough studies or the time is up, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=500, help="per line of the table")
    parser.add_argument("--minutes", type=float, default=15.0, help="stop after")
    parser.add_argument("--leaderboard", type=Path, help="published table; else even strengths")
    options = parser.parse_args()
    strengths = true_strengths(options.leaderboard)
    found = defaultdict(list)
    until = time.monotonic() + 60.0 * options.minutes
    for number, n_dialogues in product(range(options.studies), DIALOGUES):
        if time.monotonic() > until:
            break
        for mode, shares in simulate(strengths, n_dialogues, number).items():
            found[n_dialogues, mode].append(shares)
    sys.stdout.write(f"{simulation.machine()}\nseed {SEED}, {REPLICATES} replicates\n{HEAD}")
    for n_dialogues, mode in product(DIALOGUES, StrengthMode):
        sys.stdout.write(_line(n_dialogues, mode, np.array(found[n_dialogues, mode])))


def _line(n_dialogues: int, mode: StrengthMode, shares: Floats) -> str:
    figures = (f"{100.0 * share:.1f}" for share in shares.mean(axis=0))
    widths = (11, 8, 10, 11, 9, 7, 7)
    cells = "".join(f"{one:>{width}}" for one, width in zip(figures, widths, strict=True))
    return f"{n_dialogues:>9}  {mode.value:>8}  {len(shares):>7}{cells}\n"


if __name__ == "__main__":
    main()
