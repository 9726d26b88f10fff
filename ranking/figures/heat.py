"""Heat maps: a cell for each pair of a row and a column, with its figure in it."""

from dataclasses import dataclass
from functools import cached_property

from ranking.figures.marks import (
    ASCENT,
    BLUE,
    BROWN,
    LEADING,
    MIDDLE,
    SIZE,
    START,
    Block,
    Mark,
    Words,
    centred,
    row_names,
    stacked,
    widest,
    wrapped,
    written,
)
from ranking.findings import ColumnKind, Table
from ranking.plots.tables import Shades, alike, as_number

GAP = 0.8
PAD = 6.0
LOWEST_CELL = 14.0
WIDEST_CELL = 58.0
COLUMN = 252.0  # 3.5 inches: one column of a journal
KEY_WIDTH, KEY_HEIGHT, KEY_STEPS = 90.0, 6.0, 30
MOST_LINES = 3
MOST_UPWARDS = 2


@dataclass(frozen=True)
class _Grid:
    """A heat map before it is laid out."""

    names: tuple[tuple[str, ...], ...]
    heads: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    kind: ColumnKind

    @cached_property
    def left(self) -> float:
        """Return how much room the names of the rows take."""
        return max(widest(lines) for lines in self.names) + PAD

    @cached_property
    def cell(self) -> float:
        """Return how wide a cell is: its figure fits, and few of them fill the column."""
        texts = [written(value, self.kind) for row in self.values for value in row]
        room = min(WIDEST_CELL, (COLUMN - self.left) / len(self.heads))
        lines = min(MOST_UPWARDS, max(len(wrapped(head)) for head in self.heads))
        return max(widest(texts) + PAD, LOWEST_CELL, room, lines * LEADING * SIZE + 2.0)

    def high(self, row: int) -> float:
        """Return how high a row is."""
        return max(LOWEST_CELL, len(self.names[row]) * LEADING * SIZE + 4.0)


def heat(table: Table) -> tuple[Mark, ...]:
    """Draw the cells of one kind: that of the second column."""
    grid = _grid(table)
    shades = Shades.of([v for row in grid.values for v in row if v is not None], grid.kind)
    heads, y = _heads(grid)
    marks: list[Mark] = [*heads]
    for place, lines in enumerate(grid.names):
        marks += stacked(lines, 0.0, y + (grid.high(place) - GAP) / 2)
        marks += _cells(grid, place, shades, y)
        y += grid.high(place)
    return (*marks, *_key(shades, grid, y + PAD))


def _grid(table: Table) -> _Grid:
    kind, meant = alike(table)
    return _Grid(
        names=tuple(wrapped(name) for name in row_names(table)),
        heads=tuple(table.columns[n].label for n in meant),
        values=tuple(tuple(as_number(row[n]) for n in meant) for row in table.rows),
        kind=kind,
    )


def _cells(grid: _Grid, row: int, shades: Shades, y: float) -> tuple[Mark, ...]:
    marks: list[Mark] = []
    high = grid.high(row) - GAP
    for place, value in enumerate(grid.values[row]):
        x = grid.left + place * grid.cell
        fill = EMPTY if value is None else colour(shades, value)
        marks.append(Block(x, y, grid.cell - GAP, high, fill))
        text = written(value, grid.kind)
        marks.append(centred(text, _middle(grid, place), y + high / 2, ink_on(fill)))
    return tuple(marks)


def _heads(grid: _Grid) -> tuple[tuple[Mark, ...], float]:
    """Return the heads of the columns, upwards where they do not fit across, and their height."""
    across = [_across(head, grid.cell - 3.0) for head in grid.heads]
    if all(across):
        high = max(map(len, across)) * LEADING * SIZE + 2.0
        marks: list[Mark] = []
        for place, lines in enumerate(across):
            middle = high - 2.0 - len(lines) * LEADING * SIZE / 2
            marks += stacked(lines, _middle(grid, place), middle, anchor=MIDDLE)
        return tuple(marks), high
    upwards = [_upwards(head) for head in grid.heads]
    high = max(map(widest, upwards)) + 4.0
    marks = [
        mark
        for place, lines in enumerate(upwards)
        for mark in _turned(lines, _middle(grid, place), high - 3.0)
    ]
    return tuple(marks), high


def _middle(grid: _Grid, place: int) -> float:
    return grid.left + place * grid.cell + (grid.cell - GAP) / 2


def _across(head: str, most: float) -> tuple[str, ...]:
    """Return the lines of a head over its column, or nothing if a word would be broken."""
    if any(widest([word]) > most for word in head.split()):
        return ()
    lines = wrapped(head, most)
    return lines if len(lines) <= MOST_LINES else ()


def _upwards(head: str) -> tuple[str, ...]:
    """Return the lines of a head that runs upwards, cut where it would take more than two."""
    lines = wrapped(head)
    if len(lines) <= MOST_UPWARDS:
        return lines
    return (*lines[: MOST_UPWARDS - 1], f"{lines[MOST_UPWARDS - 1]}\N{HORIZONTAL ELLIPSIS}")


def _turned(lines: tuple[str, ...], middle: float, bottom: float) -> tuple[Mark, ...]:
    start = middle - (len(lines) - 1) * LEADING * SIZE / 2 + ASCENT * SIZE
    return tuple(
        Words(line, start + place * LEADING * SIZE, bottom, anchor=START, is_turned=True)
        for place, line in enumerate(lines)
    )


def _key(shades: Shades, grid: _Grid, y: float) -> tuple[Mark, ...]:
    """Return a bar that names the colours of the least, the middle and the greatest value."""
    if shades.high <= shades.low:
        return ()
    step = KEY_WIDTH / KEY_STEPS
    span = shades.high - shades.low
    values = [shades.low + (place + 0.5) * span / KEY_STEPS for place in range(KEY_STEPS)]
    bar = [
        Block(grid.left + place * step, y, step, KEY_HEIGHT, colour(shades, value))
        for place, value in enumerate(values)
    ]
    named = [shades.low, (shades.low + shades.high) / 2, shades.high]
    texts = [written(value, grid.kind) for value in named]
    texts[-1] += " %" if grid.kind is ColumnKind.SHARE else ""
    middle = y + KEY_HEIGHT + SIZE
    places = [grid.left + place * KEY_WIDTH / 2 for place in range(len(named))]
    return (*bar, *(centred(text, x, middle) for text, x in zip(texts, places, strict=True)))


PAPER, DARK = "#ffffff", "#1a1a1a"
EMPTY = "#f2f2f2"
WHITE_BELOW = 0.45


def colour(shades: Shades, value: float) -> str:
    """Return the colour of a value."""
    if shades.high <= shades.low:
        return PAPER
    if shades.middle is None:
        return _mixed(PAPER, BLUE, 0.08 + 0.92 * (value - shades.low) / (shades.high - shades.low))
    share = (value - shades.middle) / (shades.high - shades.middle)
    return _mixed(PAPER, BLUE if share > 0 else BROWN, abs(share))


def ink_on(colour: str) -> str:
    """Return black or white: what can be read on the colour."""
    red, green, blue = _parts(colour)
    is_dark = (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255 < WHITE_BELOW
    return PAPER if is_dark else DARK


def _mixed(one: str, other: str, share: float) -> str:
    parts = zip(_parts(one), _parts(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
