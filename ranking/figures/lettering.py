"""Text in figures: how wide it is, where it is broken, how numbers are written."""

from collections.abc import Sequence
from functools import lru_cache
from math import floor, log10

from ranking.figures.marks import END, INK, MIDDLE, SIZE, START, Mark, Words
from ranking.findings import Cell, Column, ColumnKind

LEADING = 1.25  # from one line to the next, in sizes
ASCENT = 0.36  # from the middle of a line of text down to its baseline, in sizes
WIDEST_NAME = 132.0
NOTHING = "\N{EN DASH}"
WORDS = frozenset({ColumnKind.TEXT, ColumnKind.SYSTEM, ColumnKind.EVALUATOR})
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


def widest(lines: Sequence[str], size: float = SIZE) -> float:
    """Return how wide the widest of the lines is; 0 without any."""
    return max((width(line, size) for line in lines), default=0.0)


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
    lines: Sequence[str], x: float, middle: float, *, size: float = SIZE, anchor: str = START
) -> tuple[Mark, ...]:
    """Return lines below each other, around a height."""
    top = middle - (len(lines) - 1) * LEADING * size / 2 + ASCENT * size
    return tuple(
        Words(line, x, top + place * LEADING * size, size, anchor)
        for place, line in enumerate(lines)
    )


def centred(text: str, x: float, middle: float, colour: str = INK) -> Words:
    """Return one line around a place."""
    return Words(text, x, middle + ASCENT * SIZE, SIZE, MIDDLE, colour)


def ended(text: str, x: float, middle: float) -> Words:
    """Return one line that ends at a place."""
    return Words(text, x, middle + ASCENT * SIZE, SIZE, END)


def as_number(cell: Cell) -> float | None:
    """Return the cell as a number, or None if it is words, yes or no, or nothing."""
    is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
    return float(cell) if is_number and cell is not None else None


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


def head(column: Column) -> str:
    """Return the words of a column with its unit."""
    return f"{column.label}, %" if column.kind is ColumnKind.SHARE else column.label
