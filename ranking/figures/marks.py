"""What a figure is made of, as plain values: lengths in points, from the upper left corner."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

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

    def moved(self, dx: float, dy: float) -> "Words":
        """Return the same elsewhere."""
        return replace(self, x=self.x + dx, y=self.y + dy)


@dataclass(frozen=True)
class Block:
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    colour: str

    def moved(self, dx: float, dy: float) -> "Block":
        """Return the same elsewhere."""
        return replace(self, x=self.x + dx, y=self.y + dy)


@dataclass(frozen=True)
class Stroke:
    """A line through points; ``dashes`` are lengths on and off, none for a whole line."""

    points: tuple[tuple[float, float], ...]
    colour: str = INK
    weight: float = 0.6
    dashes: tuple[float, ...] = ()

    def moved(self, dx: float, dy: float) -> "Stroke":
        """Return the same elsewhere."""
        return replace(self, points=tuple((x + dx, y + dy) for x, y in self.points))


@dataclass(frozen=True)
class Spot:
    """A dot; a hollow one is filled with white."""

    x: float
    y: float
    radius: float = 2.2
    colour: str = INK
    is_hollow: bool = False

    def moved(self, dx: float, dy: float) -> "Spot":
        """Return the same elsewhere."""
        return replace(self, x=self.x + dx, y=self.y + dy)


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
    return tuple(mark.moved(dx, dy) for mark in marks)
