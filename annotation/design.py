"""Pure rules of the judging design: which pairs, in which order, on which sides; all seeded."""

import hashlib
import hmac
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

POSITIONS = 2**31 - 1  # one less than what the column holds: a rater's cursor is a position + 1


@dataclass(frozen=True)
class Candidate:
    """A completion that may be paired: its key (canonical order), its system, its content."""

    key: int
    system: Hashable
    content_hash: str


Pair = tuple[Candidate, Candidate]


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


def rater_start(*, seed: str, rater_code: str) -> int:
    """Return where in that order a rater begins, so that raters spread over the study."""
    return draw(seed, "start", rater_code) % POSITIONS


def choose_pairs(
    candidates: Sequence[Candidate],
    *,
    lacking: int | None,
    existing: Collection[tuple[int, int]],
    appearances: Counter[Hashable],
    seed: str,
    context_key: str,
) -> list[Pair]:
    """Return the pairs of one context to add, completions of different systems, lower key first.

    With ``lacking`` None these are all pairs; otherwise as many as are lacking, chosen so that
    every system appears equally often, and by the seed where that leaves a choice. Pairs that are
    ``existing`` are never chosen again. ``appearances`` is carried over the contexts of a study,
    counts the existing main pairs too, and is updated here: as long as every context has one
    completion of each system and is planned at once, its counts never differ by more than one.
    """

    def order(pair: Pair) -> int:
        return draw(seed, "pair", context_key, *sorted(one.content_hash for one in pair))

    def cost(pair: Pair) -> list[int]:
        return sorted((appearances[one.system] for one in pair), reverse=True)

    pairs = _possible_pairs(candidates, existing)
    if lacking is None:
        return pairs
    spare = sorted(pairs, key=order)
    chosen: list[Pair] = []
    while spare and len(chosen) < lacking:
        chosen.append(min(spare, key=cost))
        spare.remove(chosen[-1])
        appearances.update(_systems(chosen[-1]))
    _even_out(chosen, spare, appearances)
    return chosen


def _possible_pairs(
    candidates: Sequence[Candidate], existing: Collection[tuple[int, int]]
) -> list[Pair]:
    ordered = sorted(candidates, key=lambda candidate: candidate.key)
    return [
        (a, b)
        for a, b in combinations(ordered, 2)
        if a.system != b.system and (a.key, b.key) not in existing
    ]


def _systems(pair: Pair) -> set[Hashable]:
    return {candidate.system for candidate in pair}


def _even_out(chosen: list[Pair], spare: list[Pair], appearances: Counter[Hashable]) -> None:
    """Take spare pairs for chosen ones as long as that brings the counts of two systems closer.

    Picking the best pair one after the other can end with two systems two apart, because the
    pair that would close the gap is taken already; then some third system can change partners.
    """
    while (exchange := next(_exchanges(chosen, spare, appearances), None)) is not None:
        out, into = exchange
        chosen[chosen.index(out)] = into
        spare[spare.index(into)] = out
        appearances.subtract(_systems(out))
        appearances.update(_systems(into))


def _exchanges(
    chosen: list[Pair], spare: list[Pair], appearances: Counter[Hashable]
) -> Iterator[tuple[Pair, Pair]]:
    fewest = min((appearances[one.system] for pair in spare for one in pair), default=0)
    for out in chosen:
        if max(appearances[one.system] for one in out) < fewest + 2:
            continue
        for into in spare:
            leaving, coming = _systems(out) - _systems(into), _systems(into) - _systems(out)
            if len(leaving) == 1 and appearances[leaving.pop()] > appearances[coming.pop()] + 1:
                yield out, into


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
