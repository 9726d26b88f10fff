"""What the simulated study found: its ratings, and the tables of its analyses."""

from collections.abc import Callable, Mapping

from django.urls import reverse
from django.utils import timezone

from annotation.models import Study
from ranking import refits
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool
from ranking.findings import Cell
from ranking.fits import analysis_queries, queries
from ranking.fits import services as fit_services
from ranking.models import Fit, Rating
from ranking.report import services as report_services

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
