"""A population of simulated raters: how well, how fast and how honestly each of them works."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from heart_site.demo.simulation.chance import generator

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
class SimulatedRater:
    """One rater of a population.

    ``skill`` multiplies the difference in strength that this rater perceives (1 on average);
    ``seconds_per_word`` is their own median; ``arrives_after`` counts seconds of the study.
    """

    index: int
    kind: Kind
    skill: float
    seconds_per_word: float
    arrives_after: float

    @property
    def is_cheater(self) -> bool:
        """Say whether an analysis should be without this rater."""
        return self.kind != Kind.HONEST


def draw_population(
    *, n: int, seed: int, shares: Mapping[Kind, float] = SHARES
) -> tuple[SimulatedRater, ...]:
    """Draw ``n`` raters; the same numbers give the same people.

    Parameters
    ----------
    n : int
        How many, at least 1.
    seed : int
        Fixes who they are.
    shares : mapping
        Share of each kind of cheater, rounded to whole raters; the rest are honest.

    Raises
    ------
    ValueError
        If there are no raters, or the shares leave less than nobody honest.
    """
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
    return tuple(
        SimulatedRater(i, kinds[order[i]], float(skills[i]), float(paces[i]), float(arrivals[i]))
        for i in range(n)
    )
