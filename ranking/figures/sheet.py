"""What stands around every picture: its title, how to read it, and where it comes from."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from ranking.figures.lettering import LEADING, width, wrapped
from ranking.figures.marks import (
    END,
    INK,
    MIDDLE,
    QUIET,
    START,
    Block,
    Drawing,
    Mark,
    Spot,
    Stroke,
    Words,
    moved,
)

MARGIN = 8.0
GAP = 8.0
COLUMN = 252.0  # 3.5 inches: one column of a journal
TITLE, CAPTION, SOURCE = 8.5, 6.5, 5.5
SIMULATED = "SIMULATED"
PURPOSES = {True: "exploratory", False: "confirmatory"}
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Sign:
    """Where a figure comes from: what must be on it when it is found alone.

    ``is_exploratory`` is None for ratings, which are what a study is for.
    """

    study: str
    fit: str
    as_of: dt.datetime
    is_simulated: bool
    is_exploratory: bool | None = None
    is_embargoed: bool = False

    @property
    def text(self) -> str:
        """Return all of it on one line."""
        parts = [
            *(["embargoed: for the study's team alone"] if self.is_embargoed else []),
            *(["simulated data"] if self.is_simulated else []),
            *([] if self.is_exploratory is None else [PURPOSES[self.is_exploratory]]),
            self.study,
            f"fit {self.fit}",
            f"as of {self.as_of:%Y-%m-%d %H:%M %Z}".strip(),
        ]
        return " · ".join(parts)


def sheet(body: Sequence[Mark], title: str, caption: str, sign: Sign) -> Drawing:
    """Put a picture under its title, above its caption and its origin."""
    left, top, right, bottom = extent(body)
    across = max(COLUMN - 2 * MARGIN, right - left)
    tag, room = _tag(across, sign)
    head, high = _paragraph(title, room, TITLE, INK, is_bold=True)
    y = high + GAP
    marks = [*head, *tag, *moved(body, -left, y - top)]
    y += bottom - top + GAP
    for text, size in ((caption, CAPTION), (sign.text, SOURCE)):
        lines, high = _paragraph(text, across, size, QUIET)
        marks += moved(lines, 0.0, y)
        y += high + 2.0
    return Drawing(
        width=across + 2 * MARGIN,
        height=y + 2 * MARGIN - 2.0,
        marks=moved(marks, MARGIN, MARGIN),
        title=f"{title} ({sign.text})",
        stamp=SIMULATED.lower() if sign.is_simulated else "",
    )


def _tag(across: float, sign: Sign) -> tuple[tuple[Mark, ...], float]:
    """Return the word for simulated data in the corner, and the room beside it."""
    if not sign.is_simulated:
        return (), across
    words = Words(SIMULATED, across, 0.78 * TITLE, CAPTION, END, QUIET, is_bold=True)
    return (words,), across - width(SIMULATED, CAPTION, is_bold=True) - GAP


def _paragraph(
    text: str, across: float, size: float, colour: str, *, is_bold: bool = False
) -> tuple[list[Mark], float]:
    """Return text broken into lines, and how high it is."""
    lines = wrapped(text, across, size, is_bold=is_bold) if text else ()
    marks: list[Mark] = [
        Words(line, 0.0, (0.78 + place * LEADING) * size, size, START, colour, is_bold=is_bold)
        for place, line in enumerate(lines)
    ]
    return marks, len(lines) * LEADING * size


def extent(marks: Sequence[Mark]) -> Box:
    """Return the box that just holds all marks."""
    boxes = [box(mark) for mark in marks]
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def box(mark: Mark) -> Box:
    """Return the box that just holds a mark."""
    if isinstance(mark, Words):
        return _words_box(mark)
    if isinstance(mark, Block):
        return mark.x, mark.y, mark.x + mark.width, mark.y + mark.height
    if isinstance(mark, Spot):
        x, y, r = mark.x, mark.y, mark.radius
        return x - r, y - r, x + r, y + r
    return _stroke_box(mark)


def _words_box(words: Words) -> Box:
    wide = width(words.text, words.size, is_bold=words.is_bold)
    before = {START: 0.0, MIDDLE: wide / 2, END: wide}[words.anchor]
    above, below = 0.76 * words.size, 0.24 * words.size
    if words.is_turned:
        start = words.y + before
        return words.x - above, start - wide, words.x + below, start
    start = words.x - before
    return start, words.y - above, start + wide, words.y + below


def _stroke_box(stroke: Stroke) -> Box:
    xs, ys = zip(*stroke.points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)
