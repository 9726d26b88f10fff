"""Choose the candidates that become contexts: stratified over cells, seeded; pure.

A cell is a pair of normalised labels, emotion and problem. Each cell gets its share by largest
remainder, within what it can give and what was taken from it before.
"""

import hashlib
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

RULE = "cells-2"  # raise the number when the rule below changes
PER_DIALOGUE = 2
MIN_GAP = 4  # merged turns between two contexts of one dialogue: another couplet fits between them

Cell = tuple[str, str]


class SelectionError(ValueError):
    """Fewer contexts can be chosen than were asked for."""


class SuitableCouplet(NamedTuple):
    """A suitable couplet: its dialogue's content hash, its place, its dialogue's cell."""

    dialogue: str
    turn_index: int
    cell: Cell


class Range(NamedTuple):
    """What a cell has given already, and the most it can have given in the end."""

    least: int
    most: int


def select(
    among: Iterable[SuitableCouplet],
    *,
    n: int,
    seed: int,
    weights: Mapping[Cell, int],
    taken: Iterable[SuitableCouplet] = (),
) -> list[SuitableCouplet]:
    """Choose what is missing to ``n`` contexts, in a stable order.

    ``weights`` say how large each cell should be in proportion (the dialogues it has in the
    source, say); a cell without a weight gets nothing unless others are short. ``taken`` are the
    contexts that exist: they stay, and count. Inside a cell every dialogue gives one context
    before any gives a second. What chance decides follows from a hash of the seed and the
    candidate: not from the order of the input, the platform or a library's generator.

    Raises
    ------
    SelectionError
        If there are not that many.
    """
    before = _by_dialogue(taken)
    offers = _offers(among, before, seed)
    n_taken = Counter(one.cell for given in before.values() for one in given)
    n_left = n - n_taken.total()
    if n_left <= 0:
        return []
    _check(n_left, n, offers)
    ranges = {
        cell: Range(n_taken[cell], n_taken[cell] + len(offers.get(cell, ())))
        for cell in sorted({*offers, *n_taken})
    }
    seats = apportion(n, weights=weights, ranges=ranges)
    chosen = [one for cell in offers for one in offers[cell][: seats[cell] - n_taken[cell]]]
    return sorted(chosen)


def apportion(
    n: int, *, weights: Mapping[Cell, int], ranges: Mapping[Cell, Range]
) -> Counter[Cell]:
    """Share ``n`` seats among cells in proportion to their weights, each within its range.

    Largest remainder on the shares ``clamp(scale * weight, least, most)`` whose sum is ``n``: where
    a cell is short, the others grow in proportion. Exact arithmetic; equal remainders go to the
    cell that comes first by name. Needs ``sum(least) <= n <= sum(most)``.
    """
    shares = _shares(n, weights, ranges)
    seats = Counter({cell: math.floor(share) for cell, share in shares.items()})
    by_remainder = sorted(shares, key=lambda cell: (seats[cell] - shares[cell], cell))
    seats.update(by_remainder[: n - seats.total()])
    return seats


def _shares(
    n: int, weights: Mapping[Cell, int], ranges: Mapping[Cell, Range]
) -> dict[Cell, Fraction]:
    """Return each cell's share at the scale at which the shares add up to ``n``."""

    def at(scale: Fraction) -> dict[Cell, Fraction]:
        return {
            cell: min(max(scale * weights.get(cell, 0), Fraction(least)), Fraction(most))
            for cell, (least, most) in ranges.items()
        }

    bounds = sorted(
        {Fraction(0)}
        | {
            Fraction(end, weights[cell])
            for cell, (least, most) in ranges.items()
            for end in (least, most)
            if least < most
        }
    )
    sums = [sum(at(bound).values(), Fraction(0)) for bound in bounds]
    upper = next(place for place, total in enumerate(sums) if total >= n)
    if sums[upper] == n:
        return at(bounds[upper])
    low, high = bounds[upper - 1], bounds[upper]
    slope = (sums[upper] - sums[upper - 1]) / (high - low)
    return at(low + (n - sums[upper - 1]) / slope)


def _by_dialogue(taken: Iterable[SuitableCouplet]) -> dict[str, list[SuitableCouplet]]:
    given: dict[str, list[SuitableCouplet]] = defaultdict(list)
    for one in taken:
        given[one.dialogue].append(one)
    return given


def _offers(
    among: Iterable[SuitableCouplet], taken: Mapping[str, list[SuitableCouplet]], seed: int
) -> dict[Cell, list[SuitableCouplet]]:
    """Return what each cell can still give: its dialogues' first contexts, then their second."""
    drawn: dict[str, list[SuitableCouplet]] = defaultdict(list)
    for candidate in sorted(among, key=lambda one: _draw(one, seed)):
        drawn[candidate.dialogue].append(candidate)
    rounds: list[list[SuitableCouplet]] = [[] for _ in range(PER_DIALOGUE)]
    for dialogue, found in drawn.items():
        given = taken.get(dialogue, [])
        for place, one in enumerate(_fitting(found, given), start=len(given)):
            rounds[place].append(one)
    offers: dict[Cell, list[SuitableCouplet]] = defaultdict(list)
    for one in itertools.chain(*rounds):
        offers[one.cell].append(one)
    return {cell: offers[cell] for cell in sorted(offers)}


def _fitting(
    drawn: Sequence[SuitableCouplet], given: Sequence[SuitableCouplet]
) -> Sequence[SuitableCouplet]:
    """Return what a dialogue can give beside what it gave: two if any two are far enough apart."""
    free = [one for one in drawn if all(_are_apart(one, other) for other in given)]
    if len(given) >= PER_DIALOGUE or not free:
        return ()
    if given:
        return free[:1]
    pairs = (pair for pair in itertools.combinations(free, PER_DIALOGUE) if _are_apart(*pair))
    return next(pairs, tuple(free[:1]))


def _are_apart(one: SuitableCouplet, other: SuitableCouplet) -> bool:
    return abs(one.turn_index - other.turn_index) >= MIN_GAP


def _check(n_requested: int, n: int, offers: Mapping[Cell, Sequence[SuitableCouplet]]) -> None:
    offered = [one for candidates in offers.values() for one in candidates]
    if n_requested <= len(offered):
        return
    n_dialogues = len({one.dialogue for one in offered})
    msg = (
        f"{n} contexts were asked for and {n - n_requested + len(offered)} can be chosen: "
        f"{n_dialogues} dialogues have a suitable candidate left, and each gives at most "
        f"{PER_DIALOGUE}, at least {MIN_GAP} turns apart"
    )
    raise SelectionError(msg)


def _draw(candidate: SuitableCouplet, seed: int) -> bytes:
    text = f"{RULE} {seed} {candidate.dialogue} {candidate.turn_index}"
    return hashlib.sha256(text.encode()).digest()
