"""A rewrite for readers: its hostility as a curve, and its changes word by word; pure."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

HIGHEST = 10
WIDTH, HEIGHT = 320, 120
"""Of the plot, without room for its labels."""


Point = tuple[float, float]
"""In the units of the plot: x to the right, y down."""


def curve(target: Sequence[int], measured: Sequence[int]) -> dict[str, Any]:
    """Return wanted and measured hostility on one plot, for the page.

    That is the points of each, the line through them as SVG wants it, and the same as rows of a
    table: turn, wanted, measured.
    """
    n = max(len(target), len(measured))
    wanted, found = _points(target, n), _points(measured, n)
    return {
        "target": wanted,
        "measured": found,
        "target_line": _line(wanted),
        "measured_line": _line(found),
        "rows": list(zip_longest(range(1, n + 1), target, measured)),
    }


def _points(values: Sequence[int], n: int) -> list[Point]:
    step = WIDTH / max(n - 1, 1)
    return [
        (round(place * step, 1), round(HEIGHT * (1 - value / HIGHEST), 1))
        for place, value in enumerate(values)
    ]


def _line(points: Sequence[Point]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


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
