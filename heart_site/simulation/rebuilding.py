"""Rebuild sides from the study's seed: every draw again, held against what was shown.

Two things are checked for each lease, in the order in which leases were made. The counts that the
draw went by must be those that the leases before it add up to; and the side must be the one that
the seed gives for these counts (ADR-0006).
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from annotation.design import first_goes_to_a

Counts = tuple[int, int]


@dataclass(frozen=True)
class Draw:
    """One lease: whose, of what, with the counts of the moment and the side drawn.

    ``pair`` is the pair's public name, of which the seed's coin is made. ``given_back_at`` is
    when it stopped counting, if it did; ``taken_again_at`` when a late answer made it count anew.
    """

    name: Hashable
    pair: str
    rater: Hashable
    at: dt.datetime
    pair_shown: Counts
    rater_shown: Counts
    first_is_a: bool
    given_back_at: dt.datetime | None = None
    taken_again_at: dt.datetime | None = None


@dataclass(frozen=True)
class Mismatch:
    """A lease that cannot have come about as it is stored."""

    name: Hashable
    what: str


def rebuild(draws: Iterable[Draw], *, seed: str) -> list[Mismatch]:
    """Return what does not follow from the seed and the sequence of leases; hopefully nothing."""
    return [mismatch for draw in draws for mismatch in _redraw(draw, seed=seed)]


def _redraw(draw: Draw, *, seed: str) -> Iterator[Mismatch]:
    side = first_goes_to_a(
        seed=seed, pair=draw.pair, shown=draw.pair_shown, rater_shown=draw.rater_shown
    )
    if side != draw.first_is_a:
        yield Mismatch(draw.name, "side")


def recount(draws: Iterable[Draw]) -> list[Mismatch]:
    """Return leases whose stored counts are not what the leases before them add up to."""
    pairs: defaultdict[Hashable, list[int]] = defaultdict(lambda: [0, 0])
    raters: defaultdict[Hashable, list[int]] = defaultdict(lambda: [0, 0])
    wrong = []
    for _at, _step, change, draw in sorted(_events(draws), key=lambda event: event[:2]):
        pair, rater = pairs[draw.pair], raters[draw.rater]
        if change == "draw":
            if tuple(pair) != draw.pair_shown:
                wrong.append(Mismatch(draw.name, "pair's counts"))
            if tuple(rater) != draw.rater_shown:
                wrong.append(Mismatch(draw.name, "rater's counts"))
        step = -1 if change == "give back" else 1
        side = 0 if draw.first_is_a else 1
        pair[side] += step
        rater[side] += step
    return wrong


def _events(draws: Iterable[Draw]) -> Iterator[tuple[dt.datetime, int, str, Draw]]:
    for number, draw in enumerate(draws):
        yield draw.at, number, "draw", draw
        if draw.given_back_at is not None:
            yield draw.given_back_at, number, "give back", draw
        if draw.taken_again_at is not None:
            yield draw.taken_again_at, number, "take again", draw
