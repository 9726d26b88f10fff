"""Where a supporter answers a seeker; pure."""

import itertools
from collections.abc import Mapping, Sequence


def couplets(turns: Sequence[Mapping[str, str]]) -> list[int]:
    """Return the index of every seeker turn that a supporter turn follows."""
    return [
        index
        for index, (turn, reply) in enumerate(itertools.pairwise(turns))
        if (turn["role"], reply["role"]) == ("seeker", "supporter")
    ]
