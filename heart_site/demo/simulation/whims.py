"""What people do beside answering: skip, click twice, come back late, leave without a word."""

from collections.abc import Mapping
from enum import StrEnum

import numpy as np


class Whim(StrEnum):
    """What becomes of one pair on the screen."""

    ANSWER = "answer"
    ANSWER_TWICE = "answer twice"  # a double click: the same form sent again
    ANSWER_LATE = "answer late"  # long after the lease has run out
    SKIP = "skip"
    LEAVE = "leave"  # and never come back


SHARES: Mapping[Whim, float] = {
    Whim.ANSWER_TWICE: 0.02,
    Whim.ANSWER_LATE: 0.005,
    Whim.SKIP: 0.01,
    Whim.LEAVE: 0.002,
}


def whim(rng: np.random.Generator, shares: Mapping[Whim, float] = SHARES) -> Whim:
    """Draw what becomes of a pair; mostly it is answered."""
    point = float(rng.random())
    for kind, share in shares.items():
        if point < share:
            return kind
        point -= share
    return Whim.ANSWER
