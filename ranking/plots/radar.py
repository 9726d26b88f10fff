"""Radar pictures as plain geometry: which rows are drawn, rings and spokes, one line a system."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from ranking.findings import ColumnKind, Table
from ranking.plots.planes import LETTER, LINE_STYLES, Label, Place, Series
from ranking.plots.scales import TINY, Tick, round_step
from ranking.plots.tables import alike

FEWEST_AXES = 3
RINGS = 4
UPRIGHT = 0.02  # nearer to the vertical than this, words stand around the axis


class TooFewAxesError(ValueError):
    """A radar needs three axes or more."""


@dataclass(frozen=True)
class Rings:
    """The value in the middle of a radar, and how much more each of its `RINGS` rings is."""

    middle: float
    step: float

    @classmethod
    def around(cls, values: Sequence[float], *, least: float) -> "Rings":
        """Return round rings that hold all values, ``least`` apart or more.

        The lowest value is on the first ring or outside it: never in the very middle, where
        corners of different axes could not be told apart.
        """
        low, high = min(values), max(values)
        step = round_step(max(least, (high - low) / RINGS))
        while high > _below(low, step) + RINGS * step * (1.0 + TINY):
            step = round_step(1.01 * step)
        return cls(_below(low, step), step)

    @property
    def values(self) -> tuple[float, ...]:
        """Return the value of each ring, the innermost first."""
        return tuple(round(self.middle + ring * self.step, 9) for ring in range(1, RINGS + 1))

    def reach(self, value: float) -> float:
        """Return how far from the middle a value is, the outermost ring being 1."""
        return (value - self.middle) / (RINGS * self.step)


def corner(place: int, n_axes: int, reach: float) -> Place:
    """Return where a reach along an axis ends, the middle being (0, 0), downwards more.

    The first axis points upwards, the others follow clockwise.
    """
    angle = 2.0 * math.pi * place / n_axes
    return reach * math.sin(angle), -reach * math.cos(angle)


def joined(places: Sequence[Place | None]) -> tuple[list[tuple[Place, ...]], list[Place]]:
    """Return lines between the places of neighbouring axes, and the places that are known.

    Where one is missing there is a gap; without a gap it is one line that ends where it begins.
    """
    known = [place for place in places if place is not None]
    if len(known) == len(places):
        return [(*known, known[0])], known
    beside = zip(places, [*places[1:], places[0]], strict=True)
    return [(a, b) for a, b in beside if a is not None and b is not None], known


def anchor(x: float) -> str:
    """Return the end at which SVG holds words beside an axis that ends at that ``x``."""
    if abs(x) < UPRIGHT:
        return "middle"
    return "start" if x > 0.0 else "end"


def _below(low: float, step: float) -> float:
    """Return the round value one step below the one at or under ``low``."""
    return (math.floor(low / step + TINY) - 1) * step


WIDTH = 380
RADIUS = 112.0
EDGE = 4.0
BEYOND = 12.0  # from the end of an axis to its words
LINE_HEIGHT = 15.0
LETTERS, LINES_OF_WORDS = 16, 2


@dataclass(frozen=True)
class Spoke:
    """Where an axis ends, and its words."""

    x: float
    y: float
    words: tuple[Label, ...]


@dataclass(frozen=True)
class Shape:
    """One system as drawn: lines between neighbouring axes, a dot on each, and how it looks."""

    name: str
    lines: tuple[str, ...]
    dots: tuple[Place, ...]
    style: int


@dataclass(frozen=True)
class Radar:
    """A picture `WIDTH` wide around its middle, which is at ``x`` and ``y``.

    Each ring has the corners of all places of one value, and its name; ``mark`` are the corners
    of a broken ring, if there is one.
    """

    height: float
    x: float
    y: float
    spokes: tuple[Spoke, ...]
    rings: tuple[tuple[str, Label], ...]
    shapes: tuple[Shape, ...]
    mark: str = ""


@dataclass(frozen=True)
class _Frame:
    """Where the middle of a picture is, and how many axes it has."""

    x: float
    y: float
    n_axes: int

    def at(self, place: int, reach: float) -> Place:
        """Return where a reach along an axis ends."""
        x, y = corner(place, self.n_axes, reach)
        return round(self.x + RADIUS * x, 1), round(self.y + RADIUS * y, 1)

    def around(self, reach: float) -> str:
        """Return the corners of a ring."""
        return _path([self.at(place, reach) for place in range(self.n_axes)])


def radar(
    axes: Sequence[str], outlines: Sequence[Series], *, least: float, mark: float | None = None
) -> Radar:
    """Draw outlines over three axes or more that share one scale.

    ``least`` is the smallest step between rings that means anything; a broken ring stands at
    ``mark`` if that is on the scale. Without any value the rings run from 0.
    """
    values = [value for one in outlines for value in one.values if value is not None]
    rings = Rings.around(values or [0.0], least=least)
    words = [tuple(_broken(axis)) for axis in axes]
    above = max(map(len, words)) * LINE_HEIGHT + BEYOND
    frame = _Frame(WIDTH / 2, above + RADIUS + EDGE, len(axes))
    spokes = tuple(_spoke(frame, place, lines) for place, lines in enumerate(words))
    lowest = max(one.y for spoke in spokes for one in spoke.words)
    has_mark = mark is not None and 0.0 < rings.reach(mark) <= 1.0
    return Radar(
        height=round(max(lowest, frame.y + RADIUS) + LINE_HEIGHT / 2, 1),
        x=frame.x,
        y=frame.y,
        spokes=spokes,
        rings=tuple(_ring(frame, rings, value) for value in rings.values),
        shapes=tuple(_shape(frame, rings, n, one) for n, one in enumerate(outlines)),
        mark=frame.around(rings.reach(mark)) if has_mark and mark is not None else "",
    )


def _ring(frame: _Frame, rings: Rings, value: float) -> tuple[str, Label]:
    x, y = frame.at(0, rings.reach(value))
    return frame.around(rings.reach(value)), Label(Tick(0.0, value).text, x + 4, y + 13, "")


def _spoke(frame: _Frame, place: int, lines: Sequence[str]) -> Spoke:
    """Put the words of an axis beyond its end, and inside the picture."""
    across, down = corner(place, frame.n_axes, 1.0)
    end = frame.at(place, 1.0)
    x, side = end[0] + BEYOND * across, anchor(across)
    wide = LETTER * max(map(len, lines))
    if side == "start":
        x = min(x, WIDTH - EDGE - wide)
    elif side == "end":
        x = max(x, EDGE + wide)
    half = (len(lines) - 1) * LINE_HEIGHT / 2
    middle = end[1] + BEYOND * down + down * (half + 4.0) + 4.5
    words = (
        Label(line, round(x, 1), round(middle - half + n * LINE_HEIGHT, 1), side)
        for n, line in enumerate(lines)
    )
    return Spoke(*end, tuple(words))


def _shape(frame: _Frame, rings: Rings, number: int, one: Series) -> Shape:
    places = [
        None if value is None else frame.at(place, rings.reach(value))
        for place, value in enumerate(one.values)
    ]
    lines, dots = joined(places)
    return Shape(one.name, tuple(map(_path, lines)), tuple(dots), number % LINE_STYLES)


def _path(places: Sequence[Place]) -> str:
    return " ".join(f"{x},{y}" for x, y in places)


def _broken(axis: str) -> list[str]:
    """Break the name of an axis into two lines at most."""
    lines = wrap(axis, LETTERS) or [""]
    if len(lines) <= LINES_OF_WORDS:
        return lines
    kept = lines[:LINES_OF_WORDS]
    return [*kept[:-1], f"{kept[-1][: LETTERS - 1]}\N{HORIZONTAL ELLIPSIS}"]


MOST, BY_DEFAULT = 4, 3
LEAST_STEPS = {ColumnKind.ELO: 5.0, ColumnKind.SHARE: 0.05}
LEAST_STEP = 0.01


class UnknownRowError(Exception):
    """A row was asked for that the table does not have."""


def read_names(values: Sequence[str]) -> tuple[str, ...]:
    """Read values of an address, each of which may name several rows, with commas between."""
    named = (name.strip() for value in values for name in value.split(","))
    return tuple(dict.fromkeys(name for name in named if name))


def chosen_rows(table: Table, names: Sequence[str]) -> tuple[int, ...]:
    """Return the places of the rows to draw, in the order of the table.

    At most `MOST` of those named by their first cells, or the first `BY_DEFAULT`.

    Raises
    ------
    UnknownRowError
        If there is no such row.
    """
    heads = [row[0] for row in table.rows]
    for name in names:
        if name not in heads:
            raise UnknownRowError(name)
    if not names:
        return tuple(range(min(BY_DEFAULT, len(heads))))
    return tuple(place for place, head in enumerate(heads) if head in names)[:MOST]


def are_too_many(names: Sequence[str]) -> bool:
    """Say whether more rows are named than are drawn."""
    return len(names) > MOST


def axes_of(table: Table) -> list[int]:
    """Return the columns that are axes: those of the kind of the second, if they are enough."""
    kind, same = alike(table)
    return [] if kind.is_words or len(same) < FEWEST_AXES else same


def least_step(kind: ColumnKind) -> float:
    """Return the smallest step between rings that means anything."""
    return LEAST_STEPS.get(kind, LEAST_STEP)
