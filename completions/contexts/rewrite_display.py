"""A rewrite for readers: its hostility as a curve, and its changes word by word; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

HIGHEST = 10
WIDTH, HEIGHT = 320, 120
"""Of the plot, without room for its labels."""


@dataclass(frozen=True)
class CurvePoint:
    """One seeker turn, counted from 1, in the units of the plot: x to the right, y down."""

    turn: int
    value: int
    x: float
    y: float


@dataclass(frozen=True)
class Curve:
    """Wanted and measured hostility of each seeker turn."""

    target: tuple[CurvePoint, ...]
    measured: tuple[CurvePoint, ...]

    @property
    def rows(self) -> list[tuple[int, int | None, int | None]]:
        """The same as a table: turn, wanted, measured."""
        target = [point.value for point in self.target]
        found = [point.value for point in self.measured]
        pairs = zip_longest(target, found)
        return [(place, *pair) for place, pair in enumerate(pairs, start=1)]

    @property
    def target_line(self) -> str:
        """The points of the wanted curve, as SVG wants them."""
        return _line(self.target)

    @property
    def measured_line(self) -> str:
        """The points of the measured curve, as SVG wants them."""
        return _line(self.measured)


def curve(target: Sequence[int], measured: Sequence[int]) -> Curve:
    """Place both curves on one plot."""
    n = max(len(target), len(measured))
    return Curve(_points(target, n), _points(measured, n))


def _points(values: Sequence[int], n: int) -> tuple[CurvePoint, ...]:
    step = WIDTH / max(n - 1, 1)
    return tuple(
        CurvePoint(
            turn=place + 1,
            value=value,
            x=round(place * step, 1),
            y=round(HEIGHT * (1 - value / HIGHEST), 1),
        )
        for place, value in enumerate(values)
    )


def _line(points: Sequence[CurvePoint]) -> str:
    return " ".join(f"{point.x},{point.y}" for point in points)


Turns = Sequence[Mapping[str, str]]
Piece = tuple[str, str]


def diff(source: Turns, rewritten: Turns) -> list[dict[str, object]]:
    """Return the changed turns: ``{"turn": index, "pieces": [[kind, words], ...]}``.

    A piece is ``same``, ``removed`` or ``added``; what was removed comes before what was added in
    its place. The texts of a turn are found again by joining the pieces by spaces.
    """
    pairs = enumerate(zip(source, rewritten, strict=True))
    return [
        {"turn": index, "pieces": [list(piece) for piece in pieces(one["text"], other["text"])]}
        for index, (one, other) in pairs
        if one["text"] != other["text"]
    ]


def pieces(before: str, after: str) -> list[Piece]:
    """Return the pieces by which ``after`` differs from ``before``, in words."""
    old, new = before.split(), after.split()
    found: list[Piece] = []
    for kind, low, high, start, end in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if kind == "equal":
            found.append(("same", " ".join(old[low:high])))
            continue
        found += [
            (name, " ".join(words))
            for name, words in (("removed", old[low:high]), ("added", new[start:end]))
            if words
        ]
    return found
