"""What a figure is made of, as plain values: lengths in points, from the upper left corner."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import floor, log10

from ranking.findings import Cell, Column, ColumnKind, Table
from ranking.plots.planes import Box

INK = "#1a1a1a"
QUIET = "#595959"
GRID = "#d9d9d9"
SIZE = 7.0  # the smallest type that journals take for labels
START, MIDDLE, END = "left", "center", "right"


@dataclass(frozen=True)
class Words:
    """One line of text; ``x`` and ``y`` are where its baseline starts, is halved or ends.

    Turned words run upwards.
    """

    text: str
    x: float
    y: float
    size: float = SIZE
    anchor: str = START
    colour: str = INK
    is_bold: bool = False
    is_turned: bool = False


@dataclass(frozen=True)
class Block:
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    colour: str


@dataclass(frozen=True)
class Stroke:
    """A line through points; ``dashes`` are lengths on and off, none for a whole line."""

    points: tuple[tuple[float, float], ...]
    colour: str = INK
    weight: float = 0.6
    dashes: tuple[float, ...] = ()


@dataclass(frozen=True)
class Spot:
    """A dot; a hollow one is filled with white."""

    x: float
    y: float
    radius: float = 2.2
    colour: str = INK
    is_hollow: bool = False


Mark = Words | Block | Stroke | Spot


@dataclass(frozen=True)
class Drawing:
    """Marks on a rectangle, drawn in their order; ``stamp`` lies across all of them."""

    width: float
    height: float
    marks: tuple[Mark, ...]
    title: str = ""
    stamp: str = ""


def moved(marks: Sequence[Mark], dx: float, dy: float) -> tuple[Mark, ...]:
    """Return the marks elsewhere."""

    def elsewhere(mark: Mark) -> Mark:
        if isinstance(mark, Stroke):
            return replace(mark, points=tuple((x + dx, y + dy) for x, y in mark.points))
        return replace(mark, x=mark.x + dx, y=mark.y + dy)

    return tuple(map(elsewhere, marks))


# Told apart also without red and green: Okabe & Ito (2008), https://jfly.uni-koeln.de/color/
BLUE, BROWN = "#0072b2", "#b35900"
PALE = "#a9cbe3"
LINES = (BLUE, "#e69f00", "#1a1a1a", "#56b4e9", "#cc79a7", "#8c510a")
DASHES: tuple[tuple[float, ...], ...] = ((), (4.0, 1.5), (1.0, 1.5))
LEADING = 1.25  # from one line to the next, in sizes
ASCENT = 0.36  # from the middle of a line of text down to its baseline, in sizes
WIDEST_NAME = 132.0
NOTHING = "\N{EN DASH}"
SMALLEST_P = 0.001
DIGITS = 3
MOST_KNOWN = 4096


@lru_cache(maxsize=MOST_KNOWN)
def width(text: str, size: float = SIZE, *, is_bold: bool = False) -> float:
    """Return how wide one line of text is, in points."""
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415 (nothing else of the site needs it)
    from matplotlib.textpath import text_to_path  # noqa: PLC0415 (nothing else of the site needs it)

    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if is_bold else "normal")
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def widest(lines: Sequence[str]) -> float:
    """Return how wide the widest of the lines is; 0 without any."""
    return max(map(width, lines), default=0.0)


def clean(text: str) -> str:
    """Return the text on one line, without signs that cannot be printed."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def wrapped(
    text: str, most: float = WIDEST_NAME, size: float = SIZE, *, is_bold: bool = False
) -> tuple[str, ...]:
    """Break text into lines no wider than that, between words, and inside a word too long."""
    lines = [""]
    for word in clean(text).split():
        longer = f"{lines[-1]} {word}".strip()
        if width(longer, size, is_bold=is_bold) <= most:
            lines[-1] = longer
            continue
        lines += _pieces(word, most, size)
    return tuple(line for line in lines if line) or ("",)


def _pieces(word: str, most: float, size: float) -> list[str]:
    """Cut a word where it would be too wide."""
    pieces = [""]
    for sign in word:
        if pieces[-1] and width(pieces[-1] + sign, size) > most:
            pieces.append("")
        pieces[-1] += sign
    return pieces


def stacked(
    lines: Sequence[str], x: float, middle: float, *, anchor: str = START
) -> tuple[Mark, ...]:
    """Return lines below each other, around a height."""
    top = middle - (len(lines) - 1) * LEADING * SIZE / 2 + ASCENT * SIZE
    return tuple(
        Words(line, x, top + place * LEADING * SIZE, SIZE, anchor)
        for place, line in enumerate(lines)
    )


def centred(text: str, x: float, middle: float, colour: str = INK) -> Words:
    """Return one line around a place."""
    return Words(text, x, middle + ASCENT * SIZE, SIZE, MIDDLE, colour)


def ended(text: str, x: float, middle: float) -> Words:
    """Return one line that ends at a place."""
    return Words(text, x, middle + ASCENT * SIZE, SIZE, END)


def written(value: float | None, kind: ColumnKind) -> str:
    """Write a number as in a cell; shares are in per cent, which the axis says."""
    if value is None:
        return NOTHING
    if kind is ColumnKind.SHARE:
        text = f"{100.0 * value:.0f}"
    elif kind in {ColumnKind.COUNT, ColumnKind.ELO}:
        text = f"{value:.0f}"
    elif kind is ColumnKind.P_VALUE:
        text = f"{value:.3f}" if value >= SMALLEST_P else f"<{SMALLEST_P}"
    else:
        text = f"{value:.{_places(value)}f}"
    return _signed(text)


def _signed(text: str) -> str:
    """Write minus as minus, and nought without it."""
    is_nought = not text.strip("-0.")
    return text.lstrip("-") if is_nought else text.replace("-", "\N{MINUS SIGN}")


def _places(value: float) -> int:
    if value == int(value):
        return 0
    return min(max(DIGITS - 1 - floor(log10(abs(value))), 0), DIGITS)


ABOUT = frozenset({ColumnKind.SYSTEM, ColumnKind.EVALUATOR})
WORDS = ABOUT | {ColumnKind.TEXT}


def row_names(table: Table) -> tuple[str, ...]:
    """Name each row by its systems or evaluators, else by its first words.

    Where names would be alike, all words of the rows are told. Without any words there are none.
    """
    kinds = ABOUT if any(column.kind in ABOUT for column in table.columns) else None
    names = tuple(_name(row, table.columns, kinds) for row in table.rows)
    if len(set(names)) == len(names):
        return names
    return tuple(_name(row, table.columns, WORDS) for row in table.rows)


def _name(
    row: tuple[Cell, ...], columns: tuple[Column, ...], kinds: frozenset[ColumnKind] | None
) -> str:
    if kinds is None:
        return clean(row[0]) if isinstance(row[0], str) else ""
    told = [
        clean(cell)
        for cell, column in zip(row, columns, strict=True)
        if isinstance(cell, str) and column.kind in kinds
    ]
    return ", ".join(told) if kinds is WORDS else " and ".join(told)


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
