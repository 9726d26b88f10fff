"""Tables of findings as pages show them, as plain values."""

from dataclasses import dataclass
from typing import Any

from ranking.findings import Picture
from ranking.plots.planes import Plot
from ranking.plots.radar import Radar
from ranking.plots.scales import Tick
from ranking.plots.whiskers import Whisker


@dataclass(frozen=True)
class ShownCell:
    """One cell as it is written; ``shade`` is its class on a heat map."""

    text: str
    is_simulated: bool = False
    is_number: bool = False
    shade: str = ""


@dataclass(frozen=True)
class ShownRow:
    """One row: its head, its other cells, and its interval where the table draws one."""

    head: ShownCell
    cells: tuple[ShownCell, ...]
    whisker: Whisker | None = None


@dataclass(frozen=True)
class ShownHeader:
    """The head of a column."""

    text: str
    is_number: bool
    is_simulated: bool = False


@dataclass(frozen=True)
class ShownChoice:
    """A row that a picture may draw; ``style`` is how it does, None while it does not."""

    slug: str
    text: str
    is_simulated: bool
    style: int | None = None


@dataclass(frozen=True)
class Chart:
    """What a browser draws of a table in place of its picture; ``parts`` go out as JSON."""

    picture: Picture
    parts: dict[str, Any]
    is_simulated: bool = False

    @property
    def as_json(self) -> dict[str, Any]:
        """Return what the page hands to its script."""
        known = {"picture": self.picture.value} | self.parts
        return known | {"isSimulated": True} if self.is_simulated else known


@dataclass(frozen=True)
class ShownTable:
    """One table with its picture; ``csv`` is the address of its download.

    ``n_hidden`` people are in it together or not at all. Where a picture draws some rows alone,
    ``choices`` are all that it could draw, and ``query`` names in an address those it does.
    """

    key: str
    title: str
    caption: str
    headers: tuple[ShownHeader, ...]
    rows: tuple[ShownRow, ...]
    n_hidden: int = 0
    has_whiskers: bool = False
    ticks: tuple[Tick, ...] = ()
    is_heat: bool = False
    is_in_per_cent: bool = False
    plot: Plot | None = None
    is_funnel: bool = False
    radar: Radar | None = None
    choices: tuple[ShownChoice, ...] = ()
    are_too_many: bool = False
    query: str = ""
    csv: str = ""
    has_figure: bool = False
    chart: Chart | None = None

    @property
    def drawn(self) -> tuple[ShownChoice, ...]:
        """Return the choices that the picture draws."""
        return tuple(one for one in self.choices if one.style is not None)
