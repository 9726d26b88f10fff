"""Tables of findings as plain values of pages, and whose names these may write."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext

from ranking.findings import ALL_JUDGES, Picture
from ranking.plots.planes import Plot
from ranking.plots.radar import Radar
from ranking.plots.scales import Tick
from ranking.plots.whiskers import Whisker


@dataclass(frozen=True)
class RenderedCell:
    """One cell as it is written; ``shade`` is its class on a heat map."""

    text: str
    is_simulated: bool = False
    is_number: bool = False
    shade: str = ""


@dataclass(frozen=True)
class RenderedRow:
    """One row: its head, its other cells, and its interval where the table draws one.

    ``is_nothing`` if all its figures are 0 or missing.
    """

    head: RenderedCell
    cells: tuple[RenderedCell, ...]
    whisker: Whisker | None = None
    is_nothing: bool = False


@dataclass(frozen=True)
class RenderedHeader:
    """The head of a column."""

    text: str
    is_number: bool
    is_simulated: bool = False


@dataclass(frozen=True)
class RenderedChoice:
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
class RenderedTable:
    """One table with its picture; ``csv`` is the address of its download.

    ``n_hidden`` people are in it together or not at all. Where a picture draws some rows alone,
    ``choices`` are all that it could draw, and ``query`` names in an address those it does.
    """

    key: str
    title: str
    caption: str
    headers: tuple[RenderedHeader, ...]
    rows: tuple[RenderedRow, ...]
    n_hidden: int = 0
    has_whiskers: bool = False
    ticks: tuple[Tick, ...] = ()
    is_heat: bool = False
    is_in_per_cent: bool = False
    plot: Plot | None = None
    is_funnel: bool = False
    radar: Radar | None = None
    choices: tuple[RenderedChoice, ...] = ()
    are_too_many: bool = False
    query: str = ""
    csv: str = ""
    has_figure: bool = False
    chart: Chart | None = None

    @property
    def folded(self) -> tuple[RenderedRow, ...]:
        """Return the rows in which nothing was found, where others tell something."""
        empty = tuple(row for row in self.rows if row.is_nothing)
        return empty if len(empty) < len(self.rows) else ()

    @property
    def telling(self) -> tuple[RenderedRow, ...]:
        """Return the rows that are not folded."""
        return tuple(row for row in self.rows if not row.is_nothing) or self.rows

    @property
    def drawn(self) -> tuple[RenderedChoice, ...]:
        """Return the choices that the picture draws."""
        return tuple(one for one in self.choices if one.style is not None)


TOKEN = re.compile(r"[\w-]+")
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Name:
    """What a system or a judge is called, and whether it is simulated."""

    text: str
    is_simulated: bool = False


@dataclass(frozen=True)
class Names:
    """Systems and judges by slug, and the pseudonyms of the people who judged.

    ``shows_people`` is for staff: everybody else sees people together, never one by one.
    """

    systems: Mapping[str, Name] = field(default_factory=dict)
    judges: Mapping[str, Name] = field(default_factory=dict)
    people: frozenset[str] = frozenset()
    shows_people: bool = False

    def system(self, slug: str) -> Name:
        """Return the name of a system; one that is gone keeps its slug."""
        return self.systems.get(slug, Name(slug))

    def evaluator(self, code: str) -> Name:
        """Return the name of a judge, or a rater's pseudonym."""
        return self.judges.get(code, Name(gettext(code) if code == ALL_JUDGES else code))

    def of_column(self, key: str) -> Name | None:
        """Return the name of the system or the judge that a column is about, if it is about one."""
        return self.systems.get(key) or self.judges.get(key)

    def is_hidden(self, code: object) -> bool:
        """Say whether this is an evaluator whom the reader does not see alone."""
        is_public = code in self.judges or code == ALL_JUDGES
        return not self.shows_people and not is_public

    def is_hidden_column(self, key: str) -> bool:
        """Say whether a column is about one person whom the reader does not see alone."""
        return not self.shows_people and key in self.people

    def without_people(self, text: str) -> str:
        """Return words in which no pseudonym stands, unless the reader may see them."""
        if self.shows_people or not self.people:
            return text
        return TOKEN.sub(lambda found: self._said(found[0]), text)

    def _said(self, token: str) -> str:
        if token in self.people:
            return gettext("one person")
        return WORD.sub(lambda f: gettext("one person") if f[0] in self.people else f[0], token)
