"""Rebuild a study's draws from its seed, and hold them against the leases that are stored.

For each lease: the side must be the one that the seed gives for the counts it went by (ADR-0005);
these counts must be what the leases before it add up to; and a planted pair must stand where the
seed puts one (ADR-0005), and nowhere else.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from annotation.assignment.design import (
    Place,
    first_goes_to_a,
    is_check_due,
    is_repeat_due,
    planted_first_goes_to_a,
)

Counts = tuple[int, int]


class Why(StrEnum):
    """Why a pair was shown."""

    MAIN = "main"
    SCREENING = "screening"
    CHECK = "check"
    REPEAT = "repeat"


@dataclass(frozen=True)
class Draw:
    """One lease: of which pair, whose and which of theirs, from which counts, on which side.

    ``pair`` is the pair's public name and ``rater`` the rater's key: the seed's coins are made of
    them. ``answered_at`` is when it was answered, ``given_back_at`` when its slot was free again,
    if ever; a late answer has both, and holds the slot anew if ``takes_again``.
    ``earlier_first_is_a`` is the side of the lease that a repeat repeats.
    """

    name: Hashable
    why: Why
    pair: str
    rater: str
    number: int
    at: dt.datetime
    pair_shown: Counts
    rater_shown: Counts
    first_is_a: bool
    answered_at: dt.datetime | None = None
    given_back_at: dt.datetime | None = None
    takes_again: bool = False
    earlier_first_is_a: bool | None = None


@dataclass(frozen=True)
class Plan:
    """What fixes a study's draws: the seed, how often pairs are planted, and which there are.

    ``checks`` has the public names of the pairs whose answer is known.
    """

    seed: str
    check_rate: float
    repeat_rate: float
    repeat_gap: int
    checks: frozenset[str]


@dataclass(frozen=True)
class Mismatch:
    """A lease that cannot have come about as it is stored."""

    name: Hashable
    what: str


def rebuild(draws: Iterable[Draw], plan: Plan) -> list[Mismatch]:
    """Return what does not follow from the seed and the sequence of leases; hopefully nothing.

    Parameters
    ----------
    draws : iterable of Draw
        Every lease of the study, in the order in which they were made.
    plan : Plan
        What the study's file and seed say.
    """
    rows = list(draws)
    return [
        *(Mismatch(one.name, "side") for one in rows if _side(one, plan.seed) != one.first_is_a),
        *_recount_pairs(rows),
        *_recount_raters(rows),
        *_replace(rows, plan),
    ]


def _side(one: Draw, seed: str) -> bool:
    """Draw a side again."""
    if one.why == Why.REPEAT:
        return not one.earlier_first_is_a
    if one.why == Why.MAIN:
        return first_goes_to_a(
            seed=seed, pair=one.pair, shown=one.pair_shown, rater_shown=one.rater_shown
        )
    return planted_first_goes_to_a(
        seed=seed, pair=one.pair, rater=one.rater, rater_shown=one.rater_shown
    )


def _recount_pairs(draws: list[Draw]) -> Iterator[Mismatch]:
    """Count each pair's sides through the study; planted pairs have no counts."""
    shown: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for _at, _number, step, one in sorted(_events(draws), key=lambda event: event[:2]):
        if step == 0 and tuple(shown[one.pair]) != one.pair_shown:
            yield Mismatch(one.name, "pair's counts")
        shown[one.pair][0 if one.first_is_a else 1] += step or 1
    for one in draws:
        if one.why != Why.MAIN and one.pair_shown != (0, 0):
            yield Mismatch(one.name, "pair's counts")


def _events(draws: list[Draw]) -> Iterator[tuple[dt.datetime, int, int, Draw]]:
    """Yield when a pair's counts change, and by how much; 0 marks the draw itself."""
    for number, one in enumerate(draws):
        if one.why != Why.MAIN:
            continue
        yield one.at, number, 0, one
        if one.given_back_at is not None:
            yield one.given_back_at, -1, -1, one  # before the draws of that very moment
        if one.takes_again and one.answered_at is not None:
            yield one.answered_at, -1, 1, one


def _by_rater(draws: list[Draw]) -> Iterator[list[Draw]]:
    """Yield each rater's draws by number."""
    rows = sorted(draws, key=lambda one: (one.rater, one.number))
    for _rater, own in groupby(rows, key=lambda one: one.rater):
        yield list(own)


def _recount_raters(draws: list[Draw]) -> Iterator[Mismatch]:
    """Count each rater's sides from lease to lease; what was answered in time counts."""
    for own in _by_rater(draws):
        expected = (0, 0)
        for number, one in enumerate(own, start=1):
            if one.number != number:
                yield Mismatch(one.name, "number")
            if one.rater_shown != expected:
                yield Mismatch(one.name, "rater's counts")
            following = own[number].at if number < len(own) else None
            as_a, as_b = one.rater_shown
            counts = following is not None and _is_answered(one, by=following)
            expected = (as_a + (counts and one.first_is_a), as_b + (counts and not one.first_is_a))


def _is_answered(one: Draw, *, by: dt.datetime) -> bool:
    return one.why != Why.SCREENING and one.answered_at is not None and one.answered_at <= by


def _replace(draws: list[Draw], plan: Plan) -> Iterator[Mismatch]:
    """Put planted pairs where the seed puts them; where all were had, one that counts stands in."""
    for own in _by_rater(draws):
        had: set[str] = set()
        for one in own:
            place = Place(plan.seed, one.rater, one.number)
            if one.why != Why.SCREENING:
                is_left = not plan.checks <= had
                is_due = is_check_due(place, rate=plan.check_rate) and is_left
                if is_due != (one.why == Why.CHECK):
                    yield Mismatch(one.name, "place of a check")
            if one.why == Why.REPEAT and not is_repeat_due(
                place, rate=plan.repeat_rate, gap=plan.repeat_gap
            ):
                yield Mismatch(one.name, "place of a repeat")
            had.add(one.pair)
