"""How steady majorities are when fewer evaluators are asked."""

import numpy as np

from ranking.analyses.agreement.people import Facing, is_side
from ranking.analyses.common import decimal
from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.numerics.agreement.majority import split_majorities
from ranking.numerics.agreement.opinions import N_VALUES, Opinions
from ranking.numerics.arrays import Integers

MOST_TAKEN = 10
MOST_DRAWS = 10
MOST_ENTRIES = 200_000
LINES = (
    Column("people", "People with the other people", ColumnKind.SHARE),
    Column("judges", "Judges with the other judges", ColumnKind.SHARE),
    Column("judges_people", "Judges with people", ColumnKind.SHARE),
)


def steadiness(faced: Facing, *, seed: int) -> Table | None:
    """Return how often the majority of few says what the majority of the others says."""
    people, judges = faced.people, faced.held.by_judges()
    most = max((int(np.bincount(one.item).max(initial=0)) for one in (people, judges)), default=0)
    rows = []
    for n_taken in range(1, min(most, MOST_TAKEN) + 1):
        rng = np.random.default_rng([seed, n_taken])
        among_people, _ = _with(people, n_taken, rng, faced.majority)
        rows.append((n_taken, among_people, *_with(judges, n_taken, rng, faced.majority)))
    kept = tuple(row for row in rows if any(cell is not None for cell in row[1:]))
    if not kept:
        return None
    return Table(
        "steadiness",
        "How many evaluators are enough?",
        "So many evaluators of each pair are drawn at random, and their majority is held against "
        "that of all others who judged the pair, or of people; pairs where either names no side "
        f"are left out. Means of up to {MOST_DRAWS} draws.",
        (Column("x", "Evaluators drawn", ColumnKind.COUNT), *LINES),
        kept,
        Picture.LINES,
    )


def _with(
    held: Opinions, n_taken: int, rng: np.random.Generator, aim: Integers
) -> tuple[Cell, Cell]:
    """Return the agreement of so many with the rest, and with an aim, over several draws."""
    alike = np.zeros(2, dtype=np.int64)
    n = np.zeros(2, dtype=np.int64)
    for _ in range(_draws(len(held.item))):
        some, rest = split_majorities(
            held.item,
            held.value,
            n_taken=n_taken,
            n_items=held.n_items,
            n_values=N_VALUES,
            rng=rng,
        )
        other = np.stack([rest, aim])
        kept = is_side(some) & is_side(other)
        alike += ((some == other) & kept).sum(axis=1)
        n += kept.sum(axis=1)
    with_rest, with_aim = (decimal(a / b) if b else None for a, b in zip(alike, n, strict=True))
    return with_rest, with_aim


def _draws(n_opinions: int) -> int:
    """Return how many draws keep the work below the most entries."""
    return max(1, min(MOST_DRAWS, MOST_ENTRIES // max(n_opinions, 1)))
