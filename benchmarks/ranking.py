"""What fits cost beside two other libraries: python -m benchmarks.ranking [--rounds N]."""

import argparse
import importlib.metadata
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from benchmarks import simulation
from benchmarks.peers import N_SYSTEMS, PLAN, Study, by_choix, by_heart
from ranking.numerics.bootstrap import bootstrap_strengths

SEED = 20260105
REPLICATES = 1_000
SAMPLE = 20  # resamples that the others are timed on
NOTE = f"""
All get whole wins, and ties as half a win to each side. "judgments": one fit of the single
judgments; choix, which begins with counts, is given HEART's. "counts": one fit of counted wins.
"bootstrap": fits of {REPLICATES:,} resamples of dialogues. The others have no such thing and are
asked for one weighted fit after the other, timed on {SAMPLE} and multiplied.
"""

Task = Callable[[], object]
Contest = Mapping[str, tuple[Task, float]]


def contests(study: Study, rng: np.random.Generator) -> dict[str, Contest]:
    """Return what is timed: a task per contestant, and what its time is multiplied by."""
    tables = study.tables()
    wins, n = tables.total(), tables.n_units
    drawn = rng.multinomial(n, np.full(n, 1 / n), SAMPLE).astype(np.float64)
    start, more = by_heart(wins), REPLICATES / SAMPLE
    bootstrap = partial(bootstrap_strengths, tables, start, n_replicates=REPLICATES, rng=rng)
    return {
        "judgments": {
            "HEART": (lambda: by_heart(study.tables().total()), 1),
            "choix": (lambda: by_choix(study.tables().total()), 1),
            "evalica": (study.by_evalica, 1),
        },
        "counts": {"HEART": (lambda: by_heart(wins), 1), "choix": (lambda: by_choix(wins), 1)},
        "bootstrap": {
            "HEART": (bootstrap, 1),
            "choix": (lambda: [by_choix(one) for one in tables.weighted(drawn)], more),
            "evalica": (lambda: [study.by_evalica(times) for times in drawn], more),
        },
    }


def medians(contest: Contest, n_rounds: int) -> dict[str, float]:
    """Run the tasks in turn, round by round, and return the median milliseconds of each."""
    taken: dict[str, list[float]] = {name: [] for name in contest}
    for name in [*contest] * n_rounds:
        task, factor = contest[name]
        started = time.perf_counter()
        task()
        taken[name].append(1000.0 * factor * (time.perf_counter() - started))
    return {name: float(np.median(several)) for name, several in taken.items()}


def largest_difference(study: Study) -> float:
    """Return by how much, in natural-log units, the three disagree on any strength."""
    wins = study.tables().total()
    ours = by_heart(wins)
    return max(float(np.abs(ours - one).max()) for one in (by_choix(wins), study.by_evalica()))


def main() -> None:
    """Time the three on one simulated study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    n_rounds: int = parser.parse_args().rounds
    rng = np.random.default_rng(SEED)
    study = Study.draw(rng)
    versions = ", ".join(f"{one} {importlib.metadata.version(one)}" for one in ("choix", "evalica"))
    size = f"{len(study.winner):,} judgments, {N_SYSTEMS} systems, {PLAN.n_dialogues} dialogues"
    terms = f"{size}; {n_rounds} rounds; the three agree to {largest_difference(study):.0e}"
    sys.stdout.write(f"{simulation.machine()}, {versions}\n{terms}\n{NOTE}\n")
    for title, contest in contests(study, rng).items():
        found = medians(contest, n_rounds)
        for name, taken in found.items():
            ratio = taken / found["HEART"]
            sys.stdout.write(f"{title:<10} {name:<8} {taken:>10.1f} ms {ratio:>7.2f} x\n")


if __name__ == "__main__":
    main()
