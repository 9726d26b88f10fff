"""One statistic, and what all of them are read from.

*Printed* is what arXiv 2601.19922v2 prints; where its text leaves two readings, notes say so.
*Planted* is what an ideal study finds of what is planted (`expecting`). *Found* is what came out
of the platform, with its 95 % interval and the page that shows it.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from annotation.choices import Purpose
from completions.dialogues.normaliser import plain
from heart_site.demo.paper import expecting, planting
from heart_site.demo.paper.found import Found, Row
from heart_site.demo.paper.ideal import Ideal
from heart_site.demo.rehearsal.rehearsing import Cast
from ranking.findings import Cell

SHARE, POINTS, PLAIN, COUNT = "share", "points", "number", "count"


@dataclass(frozen=True)
class Number:
    """One statistic. Shares are from 0 to 1; None is not printed, not planted, or not found.

    ``page`` is an address on the site, or a command.
    """

    topic: str
    what: str
    unit: str
    page: str
    printed: float | None = None
    planted: float | None = None
    found: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """Say whether the interval holds what was planted; None where one of them is missing."""
        if self.planted is None or self.low is None or self.high is None:
            return None
        return self.low <= self.planted <= self.high

    def of(self, row: Row) -> "Number":
        """Return it with the value of a row, and the ends of its interval."""
        found, low, high = (as_float(row.get(key)) for key in ("value", "low", "high"))
        return replace(self, found=found, low=low, high=high)


@dataclass(frozen=True)
class Beside:
    """What the study found, beside an ideal study of what is planted, and who judged."""

    found: Found
    ideal: Ideal
    cast: Cast

    @cached_property
    def elo(self) -> dict[str, float]:
        """The planted points of each system."""
        return expecting.elo(self.ideal)

    @cached_property
    def elo_of_texts(self) -> dict[str, float]:
        """The points that many raters would bring about with the very texts of the study."""
        slugs = tuple(self.systems)
        pairs = [
            [(one.system.slug, plain(one.text)) for one in pair.completions]
            for pair in self.found.study.comparisons.filter(purpose=Purpose.MAIN)
            .select_related("first__system", "second__system")
            .order_by("pk")
        ]
        truth = self.cast.truth
        return expecting.elo_of_texts(
            slugs,
            np.array([[slugs.index(slug) for slug, _text in pair] for pair in pairs]),
            np.array([[truth.of(text) for _slug, text in pair] for pair in pairs]),
            np.array([[float(len(text)) for _slug, text in pair] for pair in pairs]),
            seed=self.cast.seed,
        )

    @property
    def systems(self) -> dict[str, planting.Published | None]:
        """The systems with their printed rows; people's messages taken together have none."""
        rows = {one.slug: one.published for one in planting.models()}
        original = planting.row_of(planting.ORIGINAL)
        return {**rows, planting.HUMAN_SLUG: None, planting.ORIGINAL_SLUG: original}


def as_float(cell: Cell) -> float | None:
    """Return the number in a cell, if there is one."""
    return float(cell) if isinstance(cell, int | float) and math.isfinite(cell) else None


def name_of(row: planting.Published | None) -> str:
    """Return what a system of the study is called here."""
    if row is None:
        return "People, all messages"
    return f"Simulated {row.name}" if row.kind == "model" else row.name
