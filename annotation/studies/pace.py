"""Pure: how fast judging goes, how long it takes at that rate, and how many people it takes."""

import datetime as dt
import math
from dataclasses import dataclass

HOUR = dt.timedelta(hours=1)
DAY = dt.timedelta(days=1)
FEWEST = 5
"""Judgments from which a rate is told: fewer say nothing about how it goes on."""


@dataclass(frozen=True)
class Pace:
    """Judgments that came in the last hour and in the last day."""

    in_hour: int = 0
    in_day: int = 0

    @property
    def per_hour(self) -> float | None:
        """Judgments an hour: of the last hour, or of the last day if that had too few.

        ``None`` while neither has enough to go by.
        """
        if self.in_hour >= FEWEST:
            return float(self.in_hour)
        return self.in_day / (DAY / HOUR) if self.in_day >= FEWEST else None


def time_left(n_left: int, pace: Pace) -> dt.timedelta | None:
    """Return how long ``n_left`` judgments take at that pace; ``None`` while nobody can tell."""
    if n_left == 0:
        return dt.timedelta()
    if pace.per_hour is None:
        return None
    return HOUR * (n_left / pace.per_hour)


def raters_needed(*, n_judgments: int, session_length: int, planted: float, per_pair: int) -> int:
    """Return how many raters the judgments take if each goes through a whole session.

    Parameters
    ----------
    n_judgments
        Judgments by people that are wanted, those of planted pairs left out.
    session_length
        Pairs of a session, planted and repeated ones included.
    planted
        The share of these that is planted or repeated, from 0 to less than 1.
    per_pair
        Judgments that one pair lacks at most: so many different people there have to be.
    """
    if n_judgments == 0:
        return 0
    return max(per_pair, math.ceil(n_judgments / (session_length * (1 - planted))))
