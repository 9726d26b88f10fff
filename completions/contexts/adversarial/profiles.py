"""How hostile each seeker turn shall be under each profile, and whether it came out so."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

SHORTEST = 4
"""Seeker turns below which the four profiles cannot be told apart."""
LOW, HIGH = 1, 10
RAMP_START = 2
TOLERANCE = 2
"""How far a measured turn may be from its target."""
HOSTILE = 8
"""What the last turn must reach, and every turn of a dialogue that is hostile throughout."""
JUMP = 5
"""How much a spike rises in one turn, at least; a steady climb never does."""


class TooShortError(ValueError):
    """A dialogue has too few seeker turns for a profile to show."""


def targets(profile: str, n: int) -> list[int]:
    """Return the wanted hostility, 0 to 10, of each of ``n`` seeker turns.

    Raises
    ------
    TooShortError
        If ``n`` is below ``SHORTEST``.
    KeyError
        If the profile is unknown.
    """
    if n < SHORTEST:
        msg = f"{n} seeker turns are too few for a profile to show; {SHORTEST} are needed"
        raise TooShortError(msg)
    return _CURVES[profile](n)


def curve_problems(profile: str, measured: Sequence[int]) -> list[str]:
    """Return what is wrong with the measured curve, in words for the next attempt."""
    expected = targets(profile, len(measured))
    problems = [
        f"Seeker turn {place}: hostility should be about {target} and was rated {found}."
        for place, (target, found) in enumerate(zip(expected, measured, strict=True), start=1)
        if abs(target - found) > TOLERANCE
    ]
    if measured[-1] < HOSTILE:
        problems.append(
            f"The last seeker turn must be highly hostile, {HOSTILE} or more; "
            f"it was rated {measured[-1]}."
        )
    return problems + _SHAPES[profile](measured)


def _steady(low: int, n: int) -> list[int]:
    """Return a straight climb from ``low`` to the highest value in ``n`` turns."""
    return [round(low + (HIGH - low) * place / (n - 1)) for place in range(n)]


def _late(n: int) -> list[int]:
    """Return a quiet first half and a climb from there on."""
    quiet = n // 2
    return [LOW] * quiet + _steady(LOW, n - quiet + 1)[1:]


_CURVES: Mapping[str, Callable[[int], list[int]]] = {
    "ALWAYS_10": lambda n: [HIGH] * n,
    "LINEAR_RAMP": lambda n: _steady(RAMP_START, n),
    "MID_SPIKE": lambda n: [LOW] * (n // 2) + [HIGH] * (n - n // 2),
    "MID_RAMP": _late,
}


def _falls(measured: Sequence[int]) -> list[str]:
    """Name the turns at which a climb falls back."""
    return [
        f"Seeker turn {place} must not be calmer than the one before it."
        for place in range(2, len(measured) + 1)
        if measured[place - 1] < measured[place - 2]
    ]


def _unsteady(measured: Sequence[int]) -> list[str]:
    """Say if a steady climb starts late or jumps: it would be another profile's."""
    middle = len(measured) // 2
    problems = []
    if measured[middle - 1] <= LOW + TOLERANCE:
        problems.append(
            f"Hostility must have risen above {LOW + TOLERANCE} by seeker turn {middle}."
        )
    return problems + [
        f"Hostility must not jump by {JUMP} or more at seeker turn {place}."
        for place, (before, after) in enumerate(pairwise(measured), start=2)
        if after - before >= JUMP
    ]


def _at_once(measured: Sequence[int]) -> list[str]:
    """Say if a late climb is over with its first step: it would be a spike."""
    middle = len(measured) // 2
    if measured[middle] < HOSTILE:
        return []
    return [f"Seeker turn {middle + 1} must be below {HOSTILE}: hostility climbs from there on."]


def _no_jump(measured: Sequence[int]) -> list[str]:
    """Say if the one sudden jump is not in the middle."""
    middle = len(measured) // 2
    if measured[middle] - measured[middle - 1] >= JUMP:
        return []
    return [f"Hostility must jump suddenly at seeker turn {middle + 1}, by {JUMP} or more."]


_SHAPES: Mapping[str, Callable[[Sequence[int]], list[str]]] = {
    "ALWAYS_10": lambda _measured: [],
    "LINEAR_RAMP": lambda measured: _falls(measured) + _unsteady(measured),
    "MID_SPIKE": _no_jump,
    "MID_RAMP": lambda measured: _falls(measured) + _at_once(measured),
}
"""What, beside the targets, keeps a curve from passing for two profiles."""
