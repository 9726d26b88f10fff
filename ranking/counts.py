"""Judgments counted by dialogue, pair and verdict: what a fit rests on, and its hash."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from annotation.choices import Protocol
from ranking.numerics.arrays import Booleans, Integers
from ranking.numerics.strength import StrengthMode, grade_to_strength, shares
from ranking.numerics.tables import WeightedPairs, WinTables, tabulate


class Group(NamedTuple):
    """Judgments alike in all that matters, in the canonical frame."""

    dialogue: str
    first: str
    second: str
    protocol: str
    verdict: int
    n: int
    newest: int
    n_simulated: int


class MarkGroup(NamedTuple):
    """How often ``system`` was ahead on ``dimension``, of the marks that named a side."""

    system: str
    dimension: str
    wins: int
    n_marks: int


@dataclass(frozen=True)
class Outcomes:
    """Judgments won, lost and tied by each system, shape (n_systems,) each."""

    wins: Integers
    losses: Integers
    ties: Integers


@dataclass(frozen=True)
class JudgmentCounts:
    """The counted judgments of one selection, and the newest exclusion decision behind it."""

    groups: tuple[Group, ...]
    marks: tuple[MarkGroup, ...]
    newest_decision: int

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Return the slugs of the systems judged, sorted; indices refer to these."""
        return tuple(sorted({slug for group in self.groups for slug in group[1:3]}))

    @cached_property
    def dialogues(self) -> tuple[str, ...]:
        """Return the content hashes of the source dialogues, sorted: the units."""
        return tuple(sorted({group.dialogue for group in self.groups}))

    @property
    def n_judgments(self) -> int:
        """Return how many judgments count."""
        return sum(group.n for group in self.groups)

    @property
    def has_simulated_evaluator(self) -> bool:
        """Say whether any of the judgments came from a simulated evaluator."""
        return any(group.n_simulated for group in self.groups)

    @property
    def stamp(self) -> str:
        """Return the short mark of the analysis set, see `make_stamp`."""
        newest = max((group.newest for group in self.groups), default=0)
        return make_stamp(self.n_judgments, newest, self.newest_decision)

    def inputs_hash(self) -> str:
        """Return the hash of all that a fit of these counts rests on."""
        content = [self.stamp, [group[:6] for group in self.groups], self.marks]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def win_tables(self, *, mode: StrengthMode, slightly: int, much: int) -> WinTables:
        """Return the weighted wins per dialogue under a strength mode."""
        split = shares(self._strengths(slightly=slightly, much=much), mode)
        place = {name: index for index, name in enumerate(self.dialogues)}
        pairs = WeightedPairs(
            _integers(place[group.dialogue] for group in self.groups),
            *self._pair,
            split.first * self._n,
            split.second * self._n,
        )
        return tabulate(pairs, n_units=len(self.dialogues), n_systems=len(self.systems))

    def outcomes(self) -> Outcomes:
        """Count the judgments each system won, lost and tied, whatever their strength."""
        first, second = self._pair
        sign = np.sign(self._verdicts)
        return Outcomes(
            wins=self._count(first, sign > 0) + self._count(second, sign < 0),
            losses=self._count(first, sign < 0) + self._count(second, sign > 0),
            ties=self._count(first, sign == 0) + self._count(second, sign == 0),
        )

    def _count(self, systems: Integers, kept: Booleans) -> Integers:
        weights = np.where(kept, self._n, 0)
        counted = np.bincount(systems, weights=weights, minlength=len(self.systems))
        return counted.astype(np.int64)

    def _strengths(self, *, slightly: int, much: int) -> Integers:
        graded = np.array([g.protocol == Protocol.PREFERENCE for g in self.groups], dtype=np.bool_)
        strengths = self._verdicts.copy()
        strengths[graded] = grade_to_strength(strengths[graded], slightly=slightly, much=much)
        return strengths

    @cached_property
    def _n(self) -> Integers:
        return _integers(group.n for group in self.groups)

    @cached_property
    def _verdicts(self) -> Integers:
        return _integers(group.verdict for group in self.groups)

    @cached_property
    def _pair(self) -> tuple[Integers, Integers]:
        place = {slug: index for index, slug in enumerate(self.systems)}
        first = _integers(place[group.first] for group in self.groups)
        return first, _integers(place[group.second] for group in self.groups)


def make_stamp(n_judgments: int, newest: int, newest_decision: int) -> str:
    """Return a mark that changes whenever an analysis set does.

    Judgments and decisions are only ever added, so their number and the two newest keys tell.
    """
    return f"{n_judgments}:{newest}:{newest_decision}"


def _integers(values: Iterable[int]) -> Integers:
    return np.fromiter(values, dtype=np.int64)
