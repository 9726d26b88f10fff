"""One statistic, and what all of them are read from.

*Printed* is what arXiv 2601.19922v2 prints; where its text leaves two readings, notes say so.
*Planted* is what an ideal study finds of what is planted (`expecting`). *Found* is what came out
of the platform, with its 95 % interval and the page that shows it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from django.urls import reverse
from django.utils import timezone

from annotation.choices import Purpose
from annotation.models import Study
from completions.dialogues.normaliser import plain
from heart_site.demo.paper import expecting, planting
from heart_site.demo.paper.ideal import Ideal
from heart_site.demo.rehearsal.rehearsing import Cast
from ranking import refits
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool
from ranking.findings import Cell
from ranking.fits import analysis_queries, queries
from ranking.fits import services as fit_services
from ranking.models import Fit, Rating
from ranking.report import services as report_services

SHARE, POINTS, PLAIN, COUNT = "share", "points", "number", "count"
Selection = tuple[EvaluatorPool, ContextSet]
Row = Mapping[str, Cell]
TOGETHER: Selection = (EvaluatorPool.COMBINED, ContextSet.ALL)
PEOPLE: Selection = (EvaluatorPool.HUMAN, ContextSet.ALL)
JUDGES: Selection = (EvaluatorPool.LLM, ContextSet.ALL)
OF_PEOPLE = (AnalysisKind.PEOPLE, AnalysisKind.LATENCY)
"""Analyses of what people alone said, beside the whole report of all evaluators together."""


def compute(study: Study, *, tell: Callable[[int, int], None]) -> None:
    """Bring ratings and analyses up to date; what was computed before is not computed again."""
    claimed = refits.claim_refit(study_id=study.pk, now=timezone.now())
    for fit_id in claimed.fits:
        fit_services.fit_and_adapt(fit_id=fit_id, clock=timezone.now)
    fits = queries.newest_fits(study)
    analyses = [(fits[TOGETHER], kind) for kind in analysis_queries.kinds_of(study)]
    analyses += [(fits[PEOPLE], kind) for kind in OF_PEOPLE]
    for number, (fit, kind) in enumerate(analyses, start=1):
        report_services.analyse_fit(fit_id=fit.pk, kind=kind, clock=timezone.now)
        tell(number, len(analyses))


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


class Found:
    """The newest ratings and analyses of a study; what is missing is an empty table."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.fits = queries.newest_fits(study)
        self._tables = dict[tuple[int, str], Mapping[str, list[Row]]]()

    def ratings(self, selection: Selection) -> dict[str, Rating]:
        """Return the rating of each system, by slug."""
        rows = Rating.objects.filter(fit=self.fits[selection]).select_related("system")
        return {row.system.slug: row for row in rows}

    def rows(self, kind: AnalysisKind, table: str, of: Selection = TOGETHER) -> list[Row]:
        """Return the rows of a table of an analysis, each cell by the key of its column."""
        fit = self.fits[of]
        if (fit.pk, kind) not in self._tables:
            self._tables[fit.pk, kind] = _tables(fit, kind)
        return self._tables[fit.pk, kind].get(table, [])

    def row(
        self, kind: AnalysisKind, table: str, of: Selection = TOGETHER, /, **cells: Cell
    ) -> Row:
        """Return the row that has these cells; an empty one if none has."""
        found = self.rows(kind, table, of)
        return next((row for row in found if cells.items() <= row.items()), {})

    def page(self, kind: AnalysisKind | None = None, of: Selection = TOGETHER) -> str:
        """Return the address of the page of an analysis, or of the ratings."""
        place = [self.study.slug, self.fits[of].key]
        if kind is None:
            return reverse("ranking:fit", args=place)
        return reverse("ranking:analysis", args=[*place, kind.lower()])


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


def _tables(fit: Fit, kind: AnalysisKind) -> dict[str, list[Row]]:
    shown = analysis_queries.analysis_of(fit, kind.lower())
    if shown is None or shown.findings is None:
        return {}
    return {
        table.key: [
            dict(zip((column.key for column in table.columns), row, strict=True))
            for row in table.rows
        ]
        for table in shown.findings.tables
    }
