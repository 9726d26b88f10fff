"""Whether the planner keeps its word, by simulation: python -m benchmarks.planner [--studies N].

A pilot of known strengths says how many judgments of the same comparisons, or how many dialogues,
tell neighbours apart with a power of 80 %; then studies of that size are simulated.
"""

import argparse
import math
import sys
from dataclasses import dataclass

import numpy as np
import scipy

from benchmarks import simulation
from benchmarks.simulation import Judgments, Plan
from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.planning.needs import needed_dialogues, needed_repeats, power_of
from ranking.numerics.planning.parts import ErrorParts, WeightedJudgments, error_parts
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WeightedPairs, WinTables, tabulate

SEED = 20261123
N_SYSTEMS, N_PAIRS, N_EACH = 6, 10, 2
REPEATS, DIALOGUES = "judgments", "dialogues"
STEPS = (0.3, 0.25, 0.2)  # between neighbours, natural log
MODE = StrengthMode.SOFT
START = 200  # dialogues of the study that is planned
POWER = 0.8
HEAD = f"""
{N_SYSTEMS} systems evenly spaced, {START} dialogues, {N_PAIRS} pairs in each, judged {N_EACH} times
Elo        mean difference of the fitted ratings of neighbours
more       what is added: judgments of the same comparisons, or dialogues
each, of   judgments of each comparison and dialogues that the planner asks for
predicted  power by the planner, mean of the five pairs of neighbours, per cent
simulated  share of simulated studies that tell neighbours apart (standard error)

  Elo  more       each     of  predicted  simulated
"""


@dataclass(frozen=True)
class Planned:
    """A study that the planner asks for: its layout, and the power it should have."""

    layout: Plan
    times: float
    predicted: float


@dataclass(frozen=True)
class Found:
    """The share of simulated studies that told neighbours apart, and its standard error."""

    share: float
    error: float


def study(
    strengths: tuple[float, ...] | Floats, layout: Plan, rng: np.random.Generator
) -> tuple[WeightedJudgments, WinTables, Floats]:
    """Simulate a study, and fit it."""
    truth = np.asarray(strengths, dtype=np.float64)
    drawn: Judgments = simulation.draw(truth, layout, rng)
    share = simulation.split_grades(drawn.grade, MODE)
    pairs = WeightedPairs(drawn.unit, drawn.first, drawn.second, share.first, share.second)
    tables = tabulate(pairs, n_units=layout.n_dialogues, n_systems=len(truth))
    item = np.arange(layout.n_dialogues * layout.n_pairs).repeat(layout.n_each)
    return (
        WeightedJudgments(pairs, item, None),
        tables,
        fit_bradley_terry(tables.total()).log_strengths,
    )


def strengths_of(step: float) -> Floats:
    """Return the true strengths."""
    half = step * (N_SYSTEMS - 1) / 2
    return np.linspace(half, -half, N_SYSTEMS)


def planned(step: float, more: str, *, pilot: int) -> Planned:
    """Ask the planner, from a pilot so large that its own error does not matter.

    Its error is then taken to be that of a study of `START` dialogues.
    """
    rng = np.random.default_rng((SEED, int(1_000 * step)))
    judged, tables, theta = study(strengths_of(step), Plan(pilot, N_PAIRS, N_EACH), rng)
    truth = simulation.limit(strengths_of(step), MODE)
    all_parts = [
        _as_of(error_parts(judged, tables, theta, (k, k + 1))) for k in range(N_SYSTEMS - 1)
    ]
    apart = [float(truth[k] - truth[k + 1]) for k in range(N_SYSTEMS - 1)]
    middle = len(apart) // 2
    if more == REPEATS:
        needed = needed_repeats(all_parts[middle], apart[middle], power=POWER)
        if not math.isfinite(needed):
            msg = f"{START} dialogues are too few for steps of {step}"
            raise RuntimeError(msg)
        layout = Plan(START, N_PAIRS, math.ceil(N_EACH * needed))
    else:
        layout = Plan(needed_dialogues(all_parts[middle], apart[middle]), N_PAIRS, N_EACH)
    powers = [power_of(_planned(one, layout), d) for one, d in zip(all_parts, apart, strict=True)]
    return Planned(layout, layout.n_each / N_EACH, float(np.mean(powers)))


def found(step: float, plan: Planned, *, n_studies: int) -> Found:
    """Simulate studies of that layout."""
    rng = np.random.default_rng((SEED, int(1_000 * step), n_studies))
    first = np.arange(N_SYSTEMS - 1)
    bar = scipy.stats.t.ppf(0.975, plan.layout.n_dialogues - 1)
    shares = np.empty(n_studies)
    for number in range(n_studies):
        judged, tables, theta = study(strengths_of(step), plan.layout, rng)
        errors = [
            error_parts(judged, tables, theta, (k, k + 1)).standard_error
            for k in range(N_SYSTEMS - 1)
        ]
        shares[number] = (np.abs(theta[first] - theta[first + 1]) / errors > bar).mean()
    return Found(float(shares.mean()), float(shares.std(ddof=1)) / math.sqrt(n_studies))


def _as_of(parts: ErrorParts) -> ErrorParts:
    """Return the parts of a study of `START` dialogues of the same kind."""
    scaled = parts.scaled(parts.n_units / START)
    return ErrorParts(START, scaled.between, scaled.within, scaled.raters, START)


def _planned(parts: ErrorParts, layout: Plan) -> ErrorParts:
    error = parts.expected_error(units=layout.n_dialogues / START, judgments=layout.n_each / N_EACH)
    return ErrorParts(layout.n_dialogues, error**2, 0.0, 0.0, layout.n_dialogues)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1_000, help="per line of the table")
    n: int = parser.parse_args().studies
    sys.stdout.write(f"{simulation.machine()}\n{n} studies a line, seed {SEED}\n{HEAD}")
    for step in STEPS:
        truth = simulation.limit(strengths_of(step), MODE) * ELO_PER_LOG_UNIT
        apart = float(-np.diff(truth).mean())
        for more in (REPEATS, DIALOGUES):
            plan = planned(step, more, pilot=3_000)
            seen = found(step, plan, n_studies=n)
            sys.stdout.write(
                f"{apart:>5.1f}  {more:<9}{plan.layout.n_each:>6}  {plan.layout.n_dialogues:>5}  "
                f"{100 * plan.predicted:>9.1f}  {100 * seen.share:>9.1f} ({100 * seen.error:.1f})\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
