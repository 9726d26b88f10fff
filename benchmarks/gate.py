"""How often the gate errs, and how often it sees, by simulation: python -m benchmarks.gate."""

import argparse
import sys
from collections import Counter
from functools import cache, partial

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy import optimize, special

from benchmarks import simulation
from ranking.analyses import AnalysisInputs
from ranking.gate.rules import GateRequest, Outcome, run_gate
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.method import Method
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.strength import grade_to_strength
from ranking.numerics.strength_mode import StrengthMode

SEED = 20261122
MARGIN = 15.0
DROPS = (0.0, MARGIN, 2.0 * MARGIN, 3.0 * MARGIN)
DIALOGUES = (100, 300)
OTHERS = (-0.5, -0.2, 0.1, 0.4)  # strengths beside candidate and baseline
SYSTEMS = ("candidate", "baseline", *(f"other-{number}" for number in range(len(OTHERS))))
DIMENSIONS = ("hearing", "empathy", "attunement", "respect", "trust")
N_EACH = 3  # judgments of each pair of systems in each dialogue
MARK_STEPS = np.array([-0.5, 0.5])  # between one ahead, neither, the other ahead
METHOD = Method(StrengthMode.SOFT, slightly=2, much=4, level=0.95, replicates=500, seed=SEED)
HEAD = f"""
6 systems, each pair in each dialogue judged {N_EACH} times; the texts of a dialogue stray from the
strengths of their systems, for all judgments alike. 5 dimensions with marks, and the candidate
drops by as much on each. Allowed are {MARGIN:g} points. Per cent of studies (standard error).

drop  dialogues  studies       pass (0)    regress (1)  undecided (2)
"""


def strengths(gap: float) -> Floats:
    """Return the true strengths; the candidate is below the baseline by ``gap``."""
    return np.array([-gap, 0.0, *OTHERS])


def limit_of_marks(true: Floats) -> Floats:
    """Return what the fit of endless marks comes to, one that names nobody being half a win."""
    nodes, weights = hermegauss(61)
    differences = true[:, None] - true[None, :]
    seen = differences[..., None] + np.sqrt(2.0) * simulation.QUALITY_SD * nodes
    wins = special.expit(seen[..., None] - MARK_STEPS).mean(axis=-1) @ (weights / weights.sum())
    return fit_bradley_terry(wins).log_strengths


def limit_of_answers(true: Floats) -> Floats:
    """Return what the fit of endless answers comes to."""
    return simulation.limit(true, METHOD.strength)


@cache
def gap_of(drop: float, *, of_marks: bool) -> float:
    """Return how far strengths are apart where ratings without error are ``drop`` points apart."""
    limit = limit_of_marks if of_marks else limit_of_answers

    def error(gap: float) -> float:
        candidate, baseline = limit(strengths(gap))[:2]
        return float((baseline - candidate) * ELO_PER_LOG_UNIT - drop)

    return float(optimize.brentq(error, -0.1, 2.0))


def draw(drop: float, n_dialogues: int, rng: np.random.Generator) -> AnalysisInputs:
    """Simulate one study."""
    pairs = np.array(np.triu_indices(len(SYSTEMS), 1))
    unit = np.arange(n_dialogues).repeat(pairs.shape[1] * N_EACH)
    first, second = np.tile(pairs.repeat(N_EACH, axis=1), n_dialogues)
    strays = rng.normal(0.0, simulation.QUALITY_SD, size=(n_dialogues, len(SYSTEMS)))

    def graded(gap: float, steps: Floats) -> Integers:
        quality = strengths(gap) + strays
        seen = quality[unit, first] - quality[unit, second] + rng.logistic(size=len(unit))
        return np.asarray((seen[:, None] > steps).sum(axis=1) - len(steps) // 2)

    answers = graded(gap_of(drop, of_marks=False), simulation.STEPS)
    columns = JudgmentColumns(
        systems=SYSTEMS,
        units=tuple(f"d{number:05d}" for number in range(n_dialogues)),
        evaluators=("person",),
        is_judge=np.array([False]),
        unit=unit,
        item=np.arange(len(unit)) // N_EACH,
        first=first,
        second=second,
        evaluator=np.zeros_like(unit),
        strength=grade_to_strength(answers, slightly=METHOD.slightly, much=METHOD.much),
        shown=np.ones_like(unit),
    )
    rows, gap = np.arange(len(unit)), gap_of(drop, of_marks=True)
    marks = {name: columns.taken(rows, strength=graded(gap, MARK_STEPS)) for name in DIMENSIONS}
    return AnalysisInputs(columns, METHOD, marks)


def ask(drop: float, n_dialogues: int, number: int) -> Outcome:
    """Simulate one study, and return what the gate says of it."""
    rng = np.random.default_rng((SEED, int(drop), n_dialogues, number))
    request = GateRequest("candidate", "baseline", max_drop=MARGIN)
    return run_gate(draw(drop, n_dialogues, rng), request).outcome


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200, help="per line of the table")
    n_studies: int = parser.parse_args().studies
    sys.stdout.write(f"{simulation.machine()}\nseed {SEED}\n{HEAD}")
    for n_dialogues in DIALOGUES:
        for drop in DROPS:
            found = Counter(map(partial(ask, drop, n_dialogues), range(n_studies)))
            shares = "".join(_share(found[outcome] / n_studies, n_studies) for outcome in Outcome)
            sys.stdout.write(f"{drop:>4g}  {n_dialogues:>9}  {n_studies:>7}{shares}\n")
            sys.stdout.flush()


def _share(share: float, n: int) -> str:
    error = (share * (1.0 - share) / n) ** 0.5
    return f"{100.0 * share:>9.1f} ({error * 100.0:.1f})"


if __name__ == "__main__":
    main()
