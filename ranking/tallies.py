"""From grouped judgments to arrays."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.choices import Protocol
from ranking.groups import Group, GroupedJudgments, TextGroup
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.strength import StrengthMode, grade_to_strength, shares
from ranking.numerics.tables import WeightedPairs, WinTables, tabulate


@dataclass(frozen=True)
class Outcomes:
    """Judgments won, lost and tied by each system, shape (n_systems,) each."""

    wins: Integers
    losses: Integers
    ties: Integers


def win_tables(
    judgments: GroupedJudgments, *, mode: StrengthMode, slightly: int, much: int
) -> WinTables:
    """Return the weighted wins per dialogue under a strength mode.

    ``slightly`` and ``much`` are the strengths that five-point answers stand for; forced choices
    carry their own.
    """
    n = _integers(group.n for group in judgments.groups)
    split = shares(signed_strengths(judgments.groups, slightly=slightly, much=much), mode)
    place = {name: index for index, name in enumerate(judgments.dialogues)}
    unit = _integers(place[group.dialogue] for group in judgments.groups)
    pairs = WeightedPairs(unit, *_pair(judgments), split.first * n, split.second * n)
    return tabulate(pairs, n_units=len(judgments.dialogues), n_systems=len(judgments.systems))


def outcomes(judgments: GroupedJudgments) -> Outcomes:
    """Count the judgments each system won, lost and tied, whatever their strength."""
    n = _integers(group.n for group in judgments.groups)
    sign = np.sign(_integers(group.verdict for group in judgments.groups))
    first, second = _pair(judgments)

    def count(systems: Integers, weights: Floats) -> Integers:
        counted = np.bincount(systems, weights=weights, minlength=len(judgments.systems))
        return counted.astype(np.int64)

    to_first, to_second, tied = (np.where(sign == outcome, n, 0) for outcome in (1, -1, 0))
    return Outcomes(
        wins=count(first, to_first) + count(second, to_second),
        losses=count(first, to_second) + count(second, to_first),
        ties=count(first, tied) + count(second, tied),
    )


def signed_strengths(
    groups: Sequence[Group] | Sequence[TextGroup], *, slightly: int, much: int
) -> Integers:
    """Return signed strengths; verdicts on the five-point scale are translated."""
    graded = np.array([group.protocol == Protocol.PREFERENCE for group in groups], dtype=np.bool_)
    strengths = _integers(group.verdict for group in groups)
    strengths[graded] = grade_to_strength(strengths[graded], slightly=slightly, much=much)
    return strengths


def _pair(judgments: GroupedJudgments) -> tuple[Integers, Integers]:
    place = {slug: index for index, slug in enumerate(judgments.systems)}
    first = _integers(place[group.first] for group in judgments.groups)
    return first, _integers(place[group.second] for group in judgments.groups)


def _integers(values: Iterable[int]) -> Integers:
    return np.fromiter(values, dtype=np.int64)
