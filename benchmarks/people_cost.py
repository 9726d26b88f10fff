"""What rating people adds to a fit: python -m benchmarks.people_cost [--rounds N]."""

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import django
import numpy as np

from benchmarks import simulation

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "heart_site.settings")
django.setup()

from annotation.choices import Protocol  # noqa: E402 (needs the settings)
from ranking.fits.estimate import estimate_ratings  # noqa: E402
from ranking.fits.people import rate_people  # noqa: E402
from ranking.judgments.groups import GroupedJudgments, PairCounts, TextGroup  # noqa: E402
from ranking.judgments.method import Method  # noqa: E402
from ranking.numerics.strength_mode import StrengthMode  # noqa: E402

SEED = 20260105
N_SYSTEMS, N_TEXTS, N_RATERS = 18, 3, 15
PLAN = simulation.Plan(n_dialogues=300, n_pairs=28, n_each=5)  # 42,000 judgments
METHOD = Method(StrengthMode.SOFT, slightly=2, much=4, level=0.95, replicates=1_000, seed=SEED)


def judgments(rng: np.random.Generator) -> GroupedJudgments:
    """Simulate a study in which the first system is people, three for each context."""
    drawn = simulation.draw(np.linspace(0.8, -0.8, N_SYSTEMS), PLAN, rng)
    n_pairs = PLAN.n_dialogues * PLAN.n_pairs
    text = rng.integers(N_TEXTS, size=n_pairs).repeat(PLAN.n_each)
    rater = rng.random((n_pairs, N_RATERS)).argsort(axis=1)[:, : PLAN.n_each].ravel()
    texts = []
    columns = (drawn.unit, drawn.first, drawn.second, drawn.grade, text, rater)
    for u, i, j, grade, t, r in zip(*(column.tolist() for column in columns), strict=True):
        if not i:
            where, who = (_dialogue(u), u, N_TEXTS * u + t), (False, f"R{r:05d}")
            texts.append(TextGroup(*where, _system(j), *who, Protocol.PREFERENCE, grade, 1))
    return GroupedJudgments(
        systems=tuple(map(_system, range(N_SYSTEMS))),
        dialogues=tuple(map(_dialogue, range(PLAN.n_dialogues))),
        counts=_counts(drawn),
        texts=tuple(sorted(texts)),
    )


def _counts(drawn: simulation.Judgments) -> PairCounts:
    first, second = np.maximum(drawn.grade, 0), np.maximum(-drawn.grade, 0)
    one, none = np.ones_like(first), np.zeros_like(first)
    wins = (np.minimum(first, 1), np.minimum(second, 1))
    rows = (drawn.unit, drawn.first, drawn.second, one, none, one, *wins, first, second)
    return PairCounts.added_up(rows)


def _system(place: int) -> str:
    return f"system-{place:02d}"


def _dialogue(place: int) -> str:
    return f"{place:064d}"


def median(task: Callable[[], object], n_rounds: int) -> float:
    """Return the median milliseconds of a task."""
    taken = []
    for _ in range(n_rounds):
        started = time.perf_counter()
        task()
        taken.append(1000.0 * (time.perf_counter() - started))
    return float(np.median(taken))


def main() -> None:
    """Time the fit, the rating of people, and the hash with and without their texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    n_rounds: int = parser.parse_args().rounds
    grouped = judgments(np.random.default_rng(SEED))
    without, estimate = replace(grouped, texts=None), estimate_ratings(grouped, METHOD)
    tasks: dict[str, Callable[[], object]] = {
        "fit": lambda: estimate_ratings(without, METHOD),
        "people": lambda: rate_people(grouped, estimate, METHOD),
        "hash without texts": without.inputs_hash,
        "hash": grouped.inputs_hash,
    }
    size = f"{grouped.n_judgments:,} judgments, {len(grouped.texts or ()):,} of people's texts"
    sys.stdout.write(f"{simulation.machine()}\n{size}; {n_rounds} rounds\n\n")
    for name, task in tasks.items():
        sys.stdout.write(f"{name:<20} {median(task, n_rounds):>8.1f} ms\n")


if __name__ == "__main__":
    main()
