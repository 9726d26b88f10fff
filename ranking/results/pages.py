"""Pages of results as plain values: what each shows, put together from what was read."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext

from annotation.choices import Protocol
from annotation.models import Study
from ranking.boards.board import AnalysisLink, Board
from ranking.boards.queries import board_of
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool, FitState
from ranking.findings import Findings, Table
from ranking.fits import analysis_queries
from ranking.fits.selectors import Results
from ranking.models import Fit
from ranking.plots.radar import ChosenRows
from ranking.raters.accounting import CLASSES, AccountRow, verdict_accounting
from ranking.report import queries
from ranking.report.questions import NamedAnalyses, named_analyses, question_of, with_purpose
from ranking.report.rendered.people import public_table
from ranking.report.rendered.tables import shown_table
from ranking.report.rendered.values import Chart, Names, RenderedTable

NOTHING = Findings(method="", tables=())
SCORES = ("scores", "dimensions")  # the tables of mean points that a leaderboard shows


@dataclass(frozen=True)
class Analyses:
    """The analyses that a leaderboard leads to: of its own fit, or of an earlier one."""

    key: str
    as_of: dt.datetime
    is_earlier: bool
    links: tuple[AnalysisLink, ...]


@dataclass(frozen=True)
class FitLine:
    """One fit in a list of fits."""

    key: str
    as_of: dt.datetime
    pool: str
    context_set: str
    n_judgments: int
    is_refused: bool
    is_simulated: bool
    n_analyses: int = 0


@dataclass(frozen=True)
class AnalysisPage:
    """What one analysis of one fit found, for one reader.

    ``kept`` is what the analysis left for pages that compute from it, ``names`` whose names this
    reader may see in that, ``named`` what the study's file named in advance.
    """

    study: Study
    fit: FitLine
    slug: str
    label: str
    question: str
    state: str
    refusal: str
    method: str
    warnings: tuple[str, ...]
    is_found: bool
    is_exploratory: bool
    tables: tuple[RenderedTable, ...]
    code_version: str
    links: tuple[AnalysisLink, ...]
    names: Names
    named: NamedAnalyses
    kept: Mapping[str, Any]

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Return what can be drawn by the browser."""
        return tuple(table.chart for table in self.tables if table.chart)


@dataclass(frozen=True)
class Accounts:
    """What became of all calls of a study, evaluator by evaluator, people together."""

    rows: tuple[AccountRow, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the heads of the places that a call can have."""
        return tuple(map(str, CLASSES.values()))

    @property
    def is_simulated(self) -> bool:
        """Say whether a simulated evaluator was asked."""
        return any(row.is_simulated for row in self.rows)


def accounts_of(results: Results) -> Accounts:
    """Return what became of all calls of a study, as of now; nothing of it while that is kept."""
    return Accounts(verdict_accounting(results.study) if results.has_all else ())


def analyses_beside(fit: Fit, results: Results) -> Analyses | None:
    """Return the analyses to show beside a fit: its own, or those of an earlier one so long."""
    shown = analysis_queries.analysed_fit(fit, results.fits) or fit
    states = queries.analysis_states(shown)
    if not states:
        return None
    links = sorted(analysis_links(shown, states), key=lambda one: one.is_running or one.is_refused)
    return Analyses(shown.key, shown.as_of, is_earlier=shown.pk != fit.pk, links=tuple(links))


def links_of(fit: Fit) -> tuple[AnalysisLink, ...]:
    """Return the analyses of this very fit, and where each stands."""
    return analysis_links(fit, queries.analysis_states(fit))


def scores_beside(fit: Fit, results: Results) -> AnalysisPage | None:
    """Return the mean points to show above the ratings that they imply; None if there are none.

    Like other analyses they may be of an earlier fit. In a study of pairs there are none.
    """
    if fit.study.protocol != Protocol.LIKERT:
        return None
    shown = analysis_queries.analysed_fit(fit, results.fits) or fit
    page = analysis_page(shown, "likert", shows_people=False, chosen=ChosenRows())
    if page is None:
        return None
    first = tuple(table for table in page.tables if table.key in SCORES)
    return replace(page, tables=first)


def analysis_links(
    fit: Fit, states: Mapping[AnalysisKind, FitState], named: NamedAnalyses | None = None
) -> tuple[AnalysisLink, ...]:
    """Return how analyses are named and led to, and which were named in advance."""
    known = named_analyses(fit.study) if named is None else named
    return tuple(
        AnalysisLink(
            *(fit.key, kind.value.lower(), str(kind.label), question_of(kind), state.value),
            is_exploratory=kind not in known.kinds,
        )
        for kind, state in states.items()
    )


def board_with_analyses(fit: Fit, results: Results) -> Board:
    """Return the ratings of a fit with the analyses that can be shown beside them."""
    analyses = analyses_beside(fit, results)
    return replace(board_of(fit), analyses=analyses.links if analyses else ())


def fit_line(fit: Fit) -> FitLine:
    """Return what a list says of a fit."""
    return FitLine(
        key=fit.key,
        as_of=fit.as_of,
        pool=EvaluatorPool(fit.pool).label,
        context_set=ContextSet(fit.context_set).label,
        n_judgments=fit.n_judgments,
        is_refused=fit.state == FitState.REFUSED,
        is_simulated=fit.is_simulated,
        n_analyses=getattr(fit, "n_analyses", 0),
    )


def analysis_page(
    fit: Fit, slug: str, *, shows_people: bool, chosen: ChosenRows
) -> AnalysisPage | None:
    """Return what an analysis of a fit found, or None if there is none of that kind.

    Five queries, or six where the study names analyses in advance: the analysis, which others
    there are, systems, judges, and for the public raters. Findings of the others are not read.

    Raises
    ------
    ranking.plots.radar.UnknownRowError
        If a system is chosen for a picture that the picture's table does not have.
    """
    shown = analysis_queries.analysis_of(fit, slug)
    if shown is None:
        return None
    states = queries.analysis_states(fit)
    named = named_analyses(fit.study)
    found = with_purpose(shown.findings or NOTHING, named, shown.kind)
    names = queries.names_in(fit.study, shows_people=shows_people)
    return AnalysisPage(
        study=fit.study,
        fit=fit_line(fit),
        slug=slug,
        label=shown.label,
        question=question_of(shown.kind),
        state=shown.state,
        refusal=names.without_people(shown.refusal),
        method=names.without_people(found.method),
        warnings=(*_file_warnings(named), *map(names.without_people, found.warnings)),
        is_found=shown.findings is not None,
        is_exploratory=found.is_exploratory,
        tables=tuple(_figure(table, fit, slug, names, chosen) for table in found.tables),
        code_version=shown.code_version,
        links=analysis_links(fit, states, named),
        names=names,
        named=named,
        kept=found.kept,
    )


def _file_warnings(named: NamedAnalyses) -> tuple[str, ...]:
    if not named.was_changed:
        return ()
    text = gettext(
        "The study\u2019s file is not the one that it was locked and judged under: what it names "
        "as confirmatory does not count."
    )
    return (text,)


def _figure(table: Table, fit: Fit, slug: str, names: Names, chosen: ChosenRows) -> RenderedTable:
    address = reverse("ranking:table_csv", args=[fit.study.slug, fit.key, slug, table.key])
    shown = shown_table(table, names, chosen)
    return placed(shown, address, is_simulated=fit.is_simulated)


def placed(shown: RenderedTable, csv: str, *, is_simulated: bool) -> RenderedTable:
    """Return a table with the address of its download, and its chart marked as its fit is."""
    chart = shown.chart
    if chart and is_simulated:
        chart = replace(chart, is_simulated=True)
    return replace(shown, csv=csv, chart=chart)


def analysis_findings(fit: Fit, slug: str, *, shows_people: bool) -> Findings | None:
    """Return the findings of a kind as this reader may have them, or None if there are none."""
    shown = analysis_queries.analysis_of(fit, slug)
    if shown is None or shown.findings is None:
        return None
    found = with_purpose(shown.findings, named_analyses(fit.study), shown.kind)
    names = queries.names_in(fit.study, shows_people=shows_people)
    return Findings(
        method=names.without_people(found.method),
        tables=tuple(public_table(table, names)[0] for table in found.tables),
        warnings=tuple(map(names.without_people, found.warnings)),
        is_exploratory=found.is_exploratory,
    )


def table_by_key(found: Findings, key: str) -> Table | None:
    """Return the table of that name, or None."""
    return next((table for table in found.tables if table.key == key), None)


def as_json(found: Findings, *, fit: Fit, kind: str) -> dict[str, Any]:
    """Return findings as JSON, with what must not be left behind: of which fit, and of whom."""
    return {"study": fit.study.slug} | terms_of(fit) | {"analysis": kind} | found.as_json()


def terms_of(fit: Fit) -> dict[str, str | bool]:
    """Return what a download says of the fit behind it."""
    return {
        "fit": fit.key,
        "fit_is_simulated": fit.is_simulated,
        "fit_is_embargoed": fit.is_embargoed,
    }
