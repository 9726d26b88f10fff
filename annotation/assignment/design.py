"""Pure rules of handing out: in which order, on which sides, what is planted where; all seeded.

Which pairs there are is `annotation.planning.pairing`'s.
"""

import hashlib
import hmac
import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

POSITIONS = 2**31 - 1  # what the column holds


def draw(seed: str, *parts: object) -> int:
    """Return a reproducible number below 2**64 for this seed and these parts."""
    message = "\x1f".join(map(str, parts)).encode()
    return int.from_bytes(hmac.digest(seed.encode(), message, hashlib.sha256)[:8], "big")


def pair_key(*, context_key: str, first_hash: str, second_hash: str) -> str:
    """Return a name for the pair that depends on its contents alone, not on any database.

    Which completion is first is the database's choice, so the name does not depend on that.
    """
    low, high = sorted((first_hash, second_hash))
    return hashlib.sha256(f"{context_key}:{low}:{high}".encode()).hexdigest()[:24]


def pair_position(*, seed: str, key: str) -> int:
    """Return the pair's place in the order in which the study hands out work."""
    return draw(seed, "position", key) % POSITIONS


@dataclass(frozen=True)
class Place:
    """Where a draw for a rater stands: the study's seed, the rater's key, the lease's number."""

    seed: str
    rater: str
    number: int


def place_to_start(place: Place) -> int:
    """Return where in the study's order to look for the rater's next pair.

    Another place each time, so that raters spread over the study and never queue for its head.
    """
    return draw(place.seed, "start", place.rater, place.number) % POSITIONS


def is_check_due(place: Place, *, rate: float) -> bool:
    """Say whether a planted pair comes at this place: one in each run of ``1 / rate`` pairs."""
    return _is_due(place, "check", rate=rate, first=1)


def is_repeat_due(place: Place, *, rate: float, gap: int) -> bool:
    """Say whether an earlier pair comes again: as often as ``rate`` says, after ``gap`` pairs."""
    return _is_due(place, "repeat", rate=rate, first=gap + 1)


def _is_due(place: Place, what: str, *, rate: float, first: int) -> bool:
    """Draw one number of each run; the runs have lengths that make up the rate exactly."""
    if rate <= 0:
        return False
    run = math.floor((place.number - 1) * rate)
    start = math.ceil(run / rate) + 1
    numbers = range(max(first, start), math.ceil((run + 1) / rate) + 1)
    if place.number not in numbers:
        return False
    return numbers[draw(place.seed, what, place.rater, run) % len(numbers)] == place.number


def shuffled(keys: Iterable[str], *, seed: str, rater: str) -> list[str]:
    """Return the names of planted pairs, or of chips, in the order in which a rater gets them."""
    return sorted(keys, key=lambda key: (draw(seed, "planted", rater, key), key))


def draw_weighted(weights: Sequence[float], *, place: Place, attempt: int = 0) -> int:
    """Return the index drawn with probability proportional to its weight."""
    point = draw(place.seed, "weighted", place.rater, place.number, attempt) / 2**64
    sums = list(accumulate(weights))
    return min(bisect_right(sums, point * sums[-1]), len(sums) - 1)


def first_goes_to_a(
    *, seed: str, pair: str, shown: tuple[int, int], rater_shown: tuple[int, int]
) -> bool:
    """Say whether the first completion is drawn as A.

    ``shown`` counts how often the pair's first completion has been A and B so far, and
    ``rater_shown`` the same over everything this rater was shown. The pair is balanced first,
    then the rater; where both are even, a seeded coin decides. So a pair's counts never differ
    by more than one as long as no lease is given back, every draw after that brings them closer
    again, and each draw can be repeated from the seed and the order of events.
    """
    for as_a, as_b in (shown, rater_shown):
        if as_a != as_b:
            return as_a < as_b
    return draw(seed, "side", pair, *shown) % 2 == 0


def planted_first_goes_to_a(
    *, seed: str, pair: str, rater: str, rater_shown: tuple[int, int]
) -> bool:
    """Say whether the first completion of a planted pair is drawn as A.

    It has no tallies of its own, for its answers do not count: the rater's sides are balanced
    with it, and where they are even, a coin of this rater decides.
    """
    return first_goes_to_a(seed=seed, pair=f"{pair} {rater}", shown=(0, 0), rater_shown=rater_shown)
