"""A population of simulated raters, seeded draws and whims of each, and their virtual time."""

import datetime as dt
import hashlib
import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

ARRIVE_WITHIN_S = 24 * 60 * 60.0
SKILL_SPREAD = 0.2
SECONDS_PER_WORD = 0.3  # 200 words a minute
PACE_SPREAD = 0.2


class Kind(StrEnum):
    """How a simulated rater works; all but the first cheat."""

    HONEST = "honest"
    SPEEDER = "speeder"  # answers at random within seconds, without reading
    CLICKER = "clicker"  # answers at random, at the pace of a reader
    ONE_SIDED = "one-sided"  # always favours A, or always gives the same points
    CONTRARY = "contrary"  # reads, and says the opposite of what it finds


SHARES: Mapping[Kind, float] = {
    Kind.SPEEDER: 0.04,
    Kind.CLICKER: 0.04,
    Kind.ONE_SIDED: 0.03,
    Kind.CONTRARY: 0.02,
}


@dataclass(frozen=True)
class Crowd:
    """What is planted about the raters of a population, in natural-log units where not said.

    ``taste`` is the scale of the logistic by which raters differ on a pair, the same each time
    they see it; ``slip`` the deviation of what differs from time to time. Within ``same`` they say
    that both are about the same, beyond ``much`` that one is much better. ``first`` is their pull
    towards the text on side A, ``longer`` towards one that is twice as long. ``severity`` is by
    how much raters differ in both bounds, and ``fatigue`` the share by which slips have grown and
    readings become shorter after a hundred pairs.
    """

    taste: float = 0.6
    slip: float = 0.25
    same: float = 0.35
    much: float = 1.5
    first: float = 0.0
    longer: float = 0.0
    severity: float = 0.0
    fatigue: float = 0.0
    shares: Mapping[Kind, float] = field(default_factory=lambda: SHARES)


USUAL = Crowd()


@dataclass(frozen=True)
class SimulatedRater:
    """One rater of a population.

    ``skill`` multiplies the difference in strength that this rater perceives (1 on average);
    ``seconds_per_word`` is their own median; ``arrives_after`` counts seconds of the study;
    ``severity`` multiplies the bounds of the crowd.
    """

    index: int
    kind: Kind
    skill: float
    seconds_per_word: float
    arrives_after: float
    severity: float = 1.0


def draw_population(*, n: int, seed: int, crowd: Crowd = USUAL) -> tuple[SimulatedRater, ...]:
    """Draw ``n`` raters; the same numbers give the same people.

    Parameters
    ----------
    n : int
        How many, at least 1.
    seed : int
        Fixes who they are.
    crowd : Crowd
        With the share of each kind of cheater, rounded to whole raters; the rest are honest.

    Raises
    ------
    ValueError
        If there are no raters, or the shares leave less than nobody honest.
    """
    shares = crowd.shares
    if n < 1 or sum(shares.values()) > 1.0:
        msg = f"no population of {n} raters with shares {dict(shares)}"
        raise ValueError(msg)
    rng = generator("population", seed, n)
    cheaters = [kind for kind, share in shares.items() for _ in range(round(n * share))][:n]
    kinds = cheaters + [Kind.HONEST] * (n - len(cheaters))
    order = rng.permutation(n)
    skills = rng.lognormal(0.0, SKILL_SPREAD, size=n)
    paces = rng.lognormal(np.log(SECONDS_PER_WORD), PACE_SPREAD, size=n)
    arrivals = rng.uniform(0.0, ARRIVE_WITHIN_S, size=n)
    severities = rng.lognormal(0.0, crowd.severity, size=n)
    traits = np.column_stack([skills, paces, arrivals, severities]).tolist()
    return tuple(SimulatedRater(i, kinds[order[i]], *traits[i]) for i in range(n))


def generator(*parts: object) -> np.random.Generator:
    """Return a generator for these parts alone: the same parts give the same draws.

    Parameters
    ----------
    *parts : object
        A seed and whatever names the draw; their texts are hashed.
    """
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))


class VirtualClock:
    """Raters in the order in which they act; time never goes back, whoever asks."""

    def __init__(self, start: dt.datetime) -> None:
        self.now = start
        self._waiting: list[tuple[dt.datetime, int]] = []

    def wake(self, index: int, *, at: dt.datetime) -> None:
        """Let rater ``index`` act at a time, or now if that has passed."""
        heapq.heappush(self._waiting, (max(at, self.now), index))

    def turns(self) -> Iterator[int]:
        """Yield who acts next and move ``now`` there, until nobody is waiting."""
        while self._waiting:
            self.now, index = heapq.heappop(self._waiting)
            yield index


class Whim(StrEnum):
    """What becomes of one pair on the screen."""

    ANSWER = "answer"
    ANSWER_TWICE = "answer twice"  # a double click: the same form sent again
    ANSWER_LATE = "answer late"  # long after the lease has run out
    SKIP = "skip"
    LEAVE = "leave"  # and never come back


WHIM_SHARES: Mapping[Whim, float] = {
    Whim.ANSWER_TWICE: 0.02,
    Whim.ANSWER_LATE: 0.005,
    Whim.SKIP: 0.01,
    Whim.LEAVE: 0.002,
}


def whim(rng: np.random.Generator) -> Whim:
    """Draw what becomes of a pair; mostly it is answered."""
    point = float(rng.random())
    for kind, share in WHIM_SHARES.items():
        if point < share:
            return kind
        point -= share
    return Whim.ANSWER
