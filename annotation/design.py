"""Pure rules of the judging design: which pairs, in which order, on which sides; all seeded."""

import hashlib
import hmac
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

POSITIONS = 2**31 - 1  # one less than what the column holds: a rater's cursor is a position + 1


@dataclass(frozen=True)
class Candidate:
    """A completion that may be paired: its key (canonical order), its system, its content."""

    key: int
    system: Hashable
    content_hash: str


def _draw(seed: str, *parts: object) -> int:
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
    return _draw(seed, "position", key) % POSITIONS


def rater_start(*, seed: str, rater_code: str) -> int:
    """Return where in that order a rater begins, so that raters spread over the study."""
    return _draw(seed, "start", rater_code) % POSITIONS


def choose_pairs(
    candidates: Sequence[Candidate],
    *,
    lacking: int | None,
    existing: Collection[tuple[int, int]],
    appearances: Counter[Hashable],
    seed: str,
    context_key: str,
) -> list[tuple[Candidate, Candidate]]:
    """Return the pairs of one context to add, completions of different systems, lower key first.

    With ``lacking`` None these are all pairs; otherwise as many as are lacking, chosen one by one,
    each time the pair whose systems have appeared least so far; equal ones by the seed. Pairs
    that are ``existing`` are never chosen again. ``appearances`` is carried over the contexts of
    a study, counts the existing main pairs too, and is updated here.
    """
    ordered = sorted(candidates, key=lambda candidate: candidate.key)
    pairs = [
        (a, b)
        for a, b in combinations(ordered, 2)
        if a.system != b.system and (a.key, b.key) not in existing
    ]
    if lacking is None:
        return pairs

    def cost(pair: tuple[Candidate, Candidate]) -> tuple[int, int, int]:
        low, high = sorted(appearances[candidate.system] for candidate in pair)
        names = sorted(candidate.content_hash for candidate in pair)
        return high, low, _draw(seed, "pair", context_key, *names)

    chosen: list[tuple[Candidate, Candidate]] = []
    while pairs and len(chosen) < lacking:
        pair = min(pairs, key=cost)
        pairs.remove(pair)
        chosen.append(pair)
        appearances.update(candidate.system for candidate in pair)
    return chosen


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
    return _draw(seed, "side", pair, *shown) % 2 == 0
