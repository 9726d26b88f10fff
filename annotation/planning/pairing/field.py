"""The possible pairs of one context as columns, in seeded order, and which of them are chosen."""

from itertools import combinations

import numpy as np
import numpy.typing as npt

from annotation.assignment import design
from annotation.planning.pairing.counts import Counts, Integers
from annotation.planning.pairing.parts import Candidate, Ground, PlannedPair, keys_of

Booleans = npt.NDArray[np.bool_]
NO_PAIR = -1


class Field:
    """One context of a plan in the making.

    Columns over its free pairs (of different systems and texts, neither planned nor taken):
    ``first`` and ``second`` are candidates, ``a`` and ``b`` their systems, and ``is_chosen`` says
    which pairs the plan adds. ``at[i, j]`` is the place of the pair of candidates i and j, or
    NO_PAIR.
    """

    def __init__(self, ground: Ground, counts: Counts, *, seed: str) -> None:
        self.ground = ground
        self.stratum = counts.strata.index(ground.stratum)
        self.candidates = sorted(ground.candidates, key=lambda one: (one.content_hash, one.system))
        pairs = self._free_pairs(seed)
        systems = np.array(
            [counts.systems.index(one.system) for one in self.candidates], dtype=np.int64
        )
        columns: Integers = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        self.first, self.second = columns[:, 0], columns[:, 1]
        self.a, self.b = systems[self.first], systems[self.second]
        self.is_chosen: Booleans = np.zeros(len(pairs), dtype=np.bool_)
        self.at: Integers = np.full((len(systems), len(systems)), NO_PAIR, dtype=np.int64)
        self.at[self.first, self.second] = self.at[self.second, self.first] = range(len(pairs))

    def systems_of(self, pair: int) -> tuple[int, int]:
        """Return the two systems of a pair."""
        return int(self.a[pair]), int(self.b[pair])

    def planned_pairs(self) -> list[PlannedPair]:
        """Return the chosen pairs, the lower key first."""
        return [
            PlannedPair(self.ground.key, *sorted(self._candidates_of(int(pair)), key=_key))
            for pair in np.flatnonzero(self.is_chosen)
        ]

    def _candidates_of(self, pair: int) -> tuple[Candidate, Candidate]:
        return self.candidates[self.first[pair]], self.candidates[self.second[pair]]

    def _free_pairs(self, seed: str) -> list[tuple[int, int]]:
        """Return the free pairs in an order that content and seed decide, and no database."""
        left_out = self.ground.used | self.ground.alike
        pairs = [
            (i, j)
            for i, j in combinations(range(len(self.candidates)), 2)
            if self.candidates[i].system != self.candidates[j].system
            and keys_of(self.candidates[i], self.candidates[j]) not in left_out
        ]
        return sorted(pairs, key=lambda pair: (self._place(pair, seed), pair))

    def _place(self, pair: tuple[int, int], seed: str) -> int:
        hashes = (self.candidates[one].content_hash for one in pair)
        return design.draw(seed, "pair", self.ground.key, *hashes)


def _key(candidate: Candidate) -> int:
    return candidate.key
