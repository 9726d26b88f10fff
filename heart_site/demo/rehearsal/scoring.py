"""How well a study found out about its simulated raters, and whether its seed gives its draws."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

import scipy
from scipy import special

from annotation.assignment.design import (
    Place,
    first_goes_to_a,
    is_check_due,
    is_repeat_due,
    planted_first_goes_to_a,
)
from heart_site.demo.rehearsal.people import Kind

FEWEST_TO_RANK = 2


@dataclass(frozen=True)
class Detection:
    """Who was excluded, held against who was planted.

    ``found`` and ``planted`` count raters by kind; the found ones of kind ``HONEST`` are wronged.
    """

    found: Mapping[Kind, int]
    planted: Mapping[Kind, int]

    @property
    def precision(self) -> float | None:
        """Return the share of cheaters among the excluded; None if nobody was excluded."""
        excluded = sum(self.found.values())
        return self._cheaters(self.found) / excluded if excluded else None

    @property
    def recall(self) -> float | None:
        """Return the share of cheaters who were excluded; None if there were none."""
        planted = self._cheaters(self.planted)
        return self._cheaters(self.found) / planted if planted else None

    def recall_of(self, kind: Kind) -> float | None:
        """Return the share of one kind that was excluded; None if there were none."""
        return self.found[kind] / self.planted[kind] if self.planted[kind] else None

    @staticmethod
    def _cheaters(counts: Mapping[Kind, int]) -> int:
        return sum(n for kind, n in counts.items() if kind != Kind.HONEST)


def detect(kinds: Mapping[str, Kind], excluded: Collection[str]) -> Detection:
    """Hold the excluded against the planted kinds of everybody who judged.

    Raises
    ------
    ValueError
        If somebody excluded is not among them: such a figure would mean nothing.
    """
    if strangers := sorted(set(excluded) - set(kinds)):
        msg = f"excluded, but not simulated: {strangers}"
        raise ValueError(msg)
    found, planted = Counter(kinds[code] for code in set(excluded)), Counter(kinds.values())
    return Detection({kind: found[kind] for kind in Kind}, {kind: planted[kind] for kind in Kind})


def recovery(planted: Mapping[str, float], fitted: Mapping[str, float]) -> float | None:
    """Return Spearman's correlation of the fit with the planted strengths, by system.

    None if fewer than two systems are in both: nothing is ranked then.
    """
    both = sorted(set(planted) & set(fitted))
    if len(both) < FEWEST_TO_RANK:
        return None
    found = scipy.stats.spearmanr([planted[key] for key in both], [fitted[key] for key in both])
    return float(found.statistic)


# Whether sides came out even: chi-square statistics per pair, per rater and over the study.
#
# Sides are balanced, not tossed: statistics are far *below* their degrees of freedom and p is near
# 1. A p near 0 would mean that a side is favoured; a p near 1 that sides are more even than coins
# would ever be, which is what the design is for.


@dataclass(frozen=True)
class Balance:
    """How even sides are within groups.

    ``statistic`` is the sum over groups of (a - b)^2 / (a + b), where a and b count how often the
    first completion was A and B; under fair coins it is chi-square with ``df`` = number of groups.
    ``p`` is its upper tail. ``largest`` is the largest abs(a - b) of a group.
    """

    name: str
    statistic: float
    df: int
    p: float
    largest: int


def balances(
    shown: Iterable[tuple[Hashable, Hashable, bool]],
) -> tuple[Balance, Balance, Balance]:
    """Return the balance per pair, per rater and over the whole study.

    Each showing is a pair, the rater, and whether the first completion was A.
    """
    rows = list(shown)
    return (
        _balance("per pair", ((pair, first_is_a) for pair, _rater, first_is_a in rows)),
        _balance("per rater", ((rater, first_is_a) for _pair, rater, first_is_a in rows)),
        _balance("over the study", ((None, first_is_a) for _pair, _rater, first_is_a in rows)),
    )


def _balance(name: str, sides: Iterable[tuple[Hashable, bool]]) -> Balance:
    counts = Counter(sides)
    groups = {group for group, _first_is_a in counts}
    gaps = {
        group: (abs(a - b), a + b)
        for group in groups
        for a, b in [(counts[group, True], counts[group, False])]
    }
    statistic = float(sum(gap**2 / total for gap, total in gaps.values()))
    p = float(special.chdtrc(len(groups), statistic)) if groups else 1.0
    largest = max((gap for gap, _total in gaps.values()), default=0)
    return Balance(name, statistic, len(groups), p, largest)


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

    For each lease: the side must be the one that the seed gives for the counts it went by
    (ADR-0005); these counts must be what the leases before it add up to; and a planted pair must
    stand where the seed puts one (ADR-0005), and nowhere else.

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
