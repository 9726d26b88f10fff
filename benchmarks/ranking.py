"""What fits cost beside other libraries: python -m benchmarks.ranking [--sizes ab] [--rounds N]."""

import argparse
import importlib.metadata
import resource
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial

import choix
import evalica
import numpy as np
from scipy import special

from benchmarks import simulation
from benchmarks.coded import Size, draw
from ranking.numerics.arrays import Floats
from ranking.numerics.batches import WeightedPairs
from ranking.numerics.bootstrap import bootstrap_strengths
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.refits import draw_units
from ranking.numerics.tables import WinTables, tabulate

SEED = 20260105
REPLICATES = 1_000
SIZES = {
    "a": Size(42_000, 20, 300),
    "b": Size(1_000_000, 100, 5_000),
    "c": Size(10_000_000, 200, 20_000),
}
SAMPLES = {"a": 20, "b": 4, "c": 2}  # resamples that the others are timed on
NOTE = f"""
All begin with the same coded columns in memory and get soft shares. "fit": the strengths of all
judgments. "bootstrap": those of {REPLICATES:,} resamples of units, tables made anew each time. The
others have no such thing: their solvers are given counts of one resample after the other, timed on
some and multiplied. Peak memory is that of the process after each line, and only ever grows.
"""

MOST_DENSE = 10_000  # units times systems, of which plain NumPy makes one dense table
Task = Callable[[], object]
Clock = Callable[[], float]
Contest = Mapping[str, tuple[Task, float]]


TOLERANCE = 1e-8


def count(pairs: WeightedPairs, n_systems: int, times: Floats | None = None) -> Floats:
    """Count the wins by hand, each unit as often as ``times`` says: what solvers begin with."""
    cell = pairs.first * n_systems + pairs.second
    weight = 1.0 if times is None else times[pairs.unit]
    shape = (n_systems, n_systems)
    to_first, to_second = (
        np.bincount(cell, share * weight, n_systems**2).reshape(shape)
        for share in (pairs.to_first, pairs.to_second)
    )
    return np.asarray(to_first + to_second.T, dtype=np.float64)


def by_choix(wins: Floats) -> Floats:
    """Fit with choix."""
    return choix.ilsr_pairwise_dense(wins, tol=TOLERANCE)


def by_evalica(wins: Floats) -> Floats:
    """Fit with evalica, to which the wins of each pair are one weighted row."""
    first, second = np.nonzero(wins)
    found = evalica.bradley_terry(
        first.tolist(),
        second.tolist(),
        [evalica.Winner.X] * len(first),
        weights=wins[first, second].tolist(),
        tolerance=TOLERANCE,
        limit=1_000,
    )
    strengths = np.log(found.scores.sort_index().to_numpy(dtype=np.float64))
    centred: Floats = strengths - strengths.mean()
    return centred


def by_numpy(wins: Floats) -> Floats:
    """Fit with Newton's method and nothing else: no checks, no covariance."""
    games, won = wins + wins.T, wins.sum(axis=1)
    theta = np.zeros(len(wins))
    for _ in range(20):
        p = special.expit(theta[:, None] - theta[None, :])
        weight = games * p * (1.0 - p)
        information = np.diag(weight.sum(axis=1)) - weight + weight.mean()
        step = np.linalg.solve(information, won - (games * p).sum(axis=1))
        theta += step
        if np.abs(step).max() < TOLERANCE:
            break
    return np.asarray(theta - theta.mean())


def resampled_by_numpy(
    pairs: WeightedPairs, shape: tuple[int, int], start: Floats, times: Floats
) -> Floats:
    """Refit resamples with dense tables and chords from the start: a dozen lines, no checks.

    ``shape`` is how many units and systems there are, ``times`` how often each resample has each
    unit, (n_resamples, n_units).
    """
    n_units, n = shape
    table = np.zeros((n_units, n, n))
    np.add.at(table, (pairs.unit, pairs.first, pairs.second), pairs.to_first)
    np.add.at(table, (pairs.unit, pairs.second, pairs.first), pairs.to_second)
    wins = (times @ table.reshape(n_units, n * n)).reshape(-1, n, n)
    games, won = wins + wins.transpose(0, 2, 1), wins.sum(axis=2)
    p = special.expit(start[:, None] - start[None, :])
    weight = games.mean(axis=0) * p * (1.0 - p)
    inverse = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
    theta = np.tile(start, (len(times), 1))
    for _ in range(40):
        odds = np.exp(theta)
        shares = odds[:, :, None] / (odds[:, :, None] + odds[:, None, :])
        step = (won - (games * shares).sum(axis=2)) @ inverse
        theta += step
        if np.abs(step).max() < TOLERANCE:
            break
    return np.asarray(theta - theta.mean(axis=1, keepdims=True))


def by_heart(wins: Floats) -> Floats:
    """Fit with this project's code, checks and covariance included."""
    return fit_bradley_terry(wins).log_strengths


def contests(pairs: WeightedPairs, size: Size, n_samples: int) -> dict[str, Contest]:
    """Return what is timed: a task per contestant, and what its time is multiplied by."""
    rng = np.random.default_rng(SEED)
    start = by_heart(count(pairs, size.n_systems))
    drawn, more = draw_units(size.n_units, n_samples, rng), REPLICATES / n_samples
    counted = partial(count, pairs, size.n_systems)
    shape = (size.n_units, size.n_systems)

    def in_numpy() -> Floats:
        times = draw_units(size.n_units, REPLICATES, np.random.default_rng(SEED))
        return resampled_by_numpy(pairs, shape, start, times)

    by_hand = {"NumPy": (in_numpy, 1)} if np.prod(shape) < MOST_DENSE else {}
    return {
        "fit": {
            "HEART": (lambda: by_heart(tables(pairs, size).total()), 1),
            "NumPy": (lambda: by_numpy(counted()), 1),
            "choix": (lambda: by_choix(counted()), 1),
            "evalica": (lambda: by_evalica(counted()), 1),
        },
        "bootstrap": {
            "HEART": (lambda: resampled(pairs, size, start), 1),
            **by_hand,
            "choix": (lambda: [by_choix(counted(times)) for times in drawn], more),
            "evalica": (lambda: [by_evalica(counted(times)) for times in drawn], more),
        },
    }


def tables(pairs: WeightedPairs, size: Size) -> WinTables:
    """Tabulate the columns anew."""
    return tabulate(pairs, n_units=size.n_units, n_systems=size.n_systems)


def resampled(pairs: WeightedPairs, size: Size, start: Floats, n: int = REPLICATES) -> Floats:
    """Run the bootstrap from the columns on."""
    rng = np.random.default_rng(SEED)
    return bootstrap_strengths(tables(pairs, size), start, n_replicates=n, rng=rng).log_strengths


def medians(contest: Contest, n_rounds: int, clock: Clock = time.perf_counter) -> dict[str, float]:
    """Run the tasks in turn, round by round, and return the median milliseconds of each."""
    taken: dict[str, list[float]] = {name: [] for name in contest}
    for name in [*contest] * n_rounds:
        task, factor = contest[name]
        started = clock()
        task()
        taken[name].append(1000.0 * factor * (clock() - started))
    return {name: float(np.median(several)) for name, several in taken.items()}


def largest_difference(pairs: WeightedPairs, size: Size) -> float:
    """Return by how much, in natural-log units, the four disagree on any strength."""
    wins = count(pairs, size.n_systems)
    ours = by_heart(tables(pairs, size).total())
    others = (by_choix(wins), by_evalica(wins), by_numpy(wins))
    return max(float(np.abs(ours - one).max()) for one in others)


def largest_error(pairs: WeightedPairs, size: Size, n: int) -> float:
    """Return how far refits are from Newton's method on counts made anew from the columns."""
    start = by_heart(count(pairs, size.n_systems))
    found = resampled(pairs, size, start, n)
    drawn = draw_units(size.n_units, n, np.random.default_rng(SEED))
    exact = [by_heart(count(pairs, size.n_systems, times)) for times in drawn]
    return float(np.abs(found - exact).max())


def peak_memory() -> float:
    """Return the most memory that this process ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def report(name: str, n_rounds: int, clock: Clock = time.perf_counter) -> None:
    """Time all on simulated judgments of one size, and write a table."""
    size, n_samples = SIZES[name], SAMPLES[name]
    pairs = draw(size, np.random.default_rng(SEED))
    sys.stdout.write(f"\n({name}) {size}; {peak_memory():,.0f} MB with the columns alone\n")
    for title, contest in contests(pairs, size, n_samples).items():
        contest["HEART"][0]()
        sys.stdout.write(f"{title:<10} HEART    at most {peak_memory():>10,.0f} MB\n")
        found = medians(contest, n_rounds, clock)
        for contestant, taken in found.items():
            ratio = taken / found["HEART"]
            line = f"{title:<10} {contestant:<8} {taken:>14,.1f} ms {ratio:>8.2f} x\n"
            sys.stdout.write(line)
        sys.stdout.flush()
    difference, error = largest_difference(pairs, size), largest_error(pairs, size, n_samples)
    sys.stdout.write(f"fits agree to {difference:.0e}, refits with Newton's to {error:.0e}\n")


def main() -> None:
    """Time every size asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="abc", help="letters among a, b and c")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--processor",
        action="store_true",
        help="count processor time of all threads: for machines with other work on them",
    )
    options = parser.parse_args()
    clock = time.process_time if options.processor else time.perf_counter
    versions = ", ".join(f"{one} {importlib.metadata.version(one)}" for one in ("choix", "evalica"))
    sys.stdout.write(f"{simulation.machine()}, {versions}; {options.rounds} rounds\n{NOTE}")
    for name in options.sizes:
        report(name, options.rounds, clock)


if __name__ == "__main__":
    main()
