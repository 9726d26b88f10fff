"""Pages of results as plain values: what each shows, put together from what was read."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext

from annotation.choices import Protocol
from ranking.boards import AnalysisLink, Board, board_of, missing_from
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool
from ranking.findings import ColumnKind, Findings, Picture, Table
from ranking.fits import analysis_queries
from ranking.fits.analysis_queries import HistoryPoint, history
from ranking.fits.queries import Results
from ranking.models import Analysis, Fit
from ranking.plots.planes import Plot, Series, lines
from ranking.plots.scales import Tick
from ranking.raters.accounting import AccountRow, verdict_accounting
from ranking.report.charts import axis
from ranking.report.confirmatory import NamedAnalyses, named_analyses
from ranking.report.names import Name, Names, names_in, public_table
from ranking.report.tables import shown_table
from ranking.report.written import Chart, RenderedTable, written

NOTHING = Findings(method="", tables=())
EARLIER = 5
SCORES = ("scores", "dimensions")  # the tables of mean points that a leaderboard shows


@dataclass(frozen=True)
class AnalysisPage:
    """What one analysis of one fit found, for one reader.

    ``kept`` is what the analysis left for pages that compute from it, ``names`` whose names this
    reader may see in that, ``named`` what the study's file named in advance.
    """

    fit: Fit
    slug: str
    label: str
    question: str
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


def accounts_of(results: Results) -> tuple[AccountRow, ...]:
    """Return what became of all calls of a study, as of now; nothing of it while that is kept."""
    return verdict_accounting(results.study) if results.has_all else ()


def earlier_fits(fit: Fit, fits: QuerySet[Fit]) -> list[Fit]:
    """Return the few of the fits that came just before this one on the same pool and contexts."""
    same = fits.filter(pool=fit.pool, context_set=fit.context_set, as_of__lt=fit.as_of)
    return list(same.order_by("-as_of", "-pk")[:EARLIER])


def analyses_beside(fit: Fit, results: Results) -> tuple[Fit, tuple[AnalysisLink, ...]]:
    """Return the analyses to show beside a fit: its own, or those of an earlier one so long."""
    shown = analysis_queries.analysed_fit(fit, results.fits) or fit
    return shown, tuple(sorted(links_of(shown), key=lambda one: one.is_running or one.is_refused))


def links_of(fit: Fit) -> tuple[AnalysisLink, ...]:
    """Return the analyses of this very fit, and where each stands."""
    return analysis_links(fit, named_analyses(fit.study))


def scores_beside(fit: Fit, results: Results) -> AnalysisPage | None:
    """Return the mean points to show above the ratings that they imply; None if there are none.

    Like other analyses they may be of an earlier fit. In a study of pairs there are none.
    """
    if fit.study.protocol != Protocol.LIKERT:
        return None
    shown = analysis_queries.analysed_fit(fit, results.fits) or fit
    page = analysis_page(shown, "likert", shows_people=False)
    if page is None:
        return None
    first = tuple(table for table in page.tables if table.key in SCORES)
    return replace(page, tables=first)


def analysis_links(fit: Fit, named: NamedAnalyses) -> tuple[AnalysisLink, ...]:
    """Return how analyses are named and led to, where they stand, and which were named.

    None of a fit below the minimum of its study.
    """
    if missing_from(fit):
        return ()
    rows = Analysis.objects.filter(fit=fit).order_by("claimed_at", "pk")
    states = dict(rows.values_list("kind", "state"))
    return tuple(
        AnalysisLink(
            *(fit.key, kind.value.lower(), str(kind.label), kind.question, states[kind]),
            is_exploratory=kind not in named.kinds,
        )
        for kind in AnalysisKind
        if kind in states
    )


def board_with_analyses(fit: Fit, results: Results) -> Board:
    """Return the ratings of a fit with the analyses that can be shown beside them."""
    _, links = analyses_beside(fit, results)
    return replace(board_of(fit), analyses=links)


def analysis_page(
    fit: Fit, slug: str, *, shows_people: bool, chosen: Sequence[str] = ()
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
    named = named_analyses(fit.study)
    kind = AnalysisKind(shown.kind)
    found = shown.findings or NOTHING
    names = names_in(fit.study, shows_people=shows_people)
    return AnalysisPage(
        fit=fit,
        slug=slug,
        label=shown.get_kind_display(),
        question=kind.question,
        refusal=names.without_people(shown.refusal),
        method=names.without_people(found.method),
        warnings=(*_file_warnings(named), *map(names.without_people, found.warnings)),
        is_found=shown.findings is not None,
        is_exploratory=named.is_exploratory(kind),
        tables=tuple(_figure(table, fit, slug, names, chosen) for table in found.tables),
        code_version=shown.code_version,
        links=analysis_links(fit, named),
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


def _figure(
    table: Table, fit: Fit, slug: str, names: Names, chosen: Sequence[str]
) -> RenderedTable:
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
    found, named = shown.findings, named_analyses(fit.study)
    names = names_in(fit.study, shows_people=shows_people)
    return Findings(
        method=names.without_people(found.method),
        tables=tuple(public_table(table, names)[0] for table in found.tables),
        warnings=tuple(map(names.without_people, found.warnings)),
        is_exploratory=named.is_exploratory(AnalysisKind(shown.kind)),
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


MOST_POINTS = 100
TICKS = 4
DAY = dt.timedelta(days=1)


def history_page(
    results: Results, pool: EvaluatorPool, context_set: ContextSet
) -> dict[str, object]:
    """Return how the ratings of a selection moved, for the page. Five queries.

    The systems are in the order of their newest rating, the rows, which are fits with the rating
    of each system in points, newest first. It is simulated if a system, a person or a judge behind
    any of them is.
    """
    points = history(results, pool, context_set, most=MOST_POINTS)
    names = names_in(results.study, shows_people=True)
    slugs = _by_newest(points)
    systems = tuple(map(names.system, slugs))
    elos = [[_elo(point, slug) for point in points] for slug in slugs]
    plot = _plot(points, systems, elos)
    is_simulated = any(one.is_simulated for one in systems)
    is_simulated = is_simulated or any(one.is_simulated for one in points)
    return {
        "systems": systems,
        "rows": [(point, [one[n] for one in elos]) for n, point in enumerate(points)][::-1],
        "plot": plot,
        "is_simulated": is_simulated,
        "chart": _chart(points, systems, elos, is_simulated=is_simulated) if plot else None,
    }


def _by_newest(points: Sequence[HistoryPoint]) -> list[str]:
    """Return all systems that ever had a rating, the best of the newest first."""
    newest = {slug: band.elo for point in points for slug, band in point.systems.items()}
    return sorted(newest, key=lambda slug: (-newest[slug], slug))


def _elo(point: HistoryPoint, slug: str) -> float | None:
    band = point.systems.get(slug)
    return None if band is None else band.elo


def _changes(points: Sequence[HistoryPoint]) -> tuple[dt.datetime, ...]:
    """Return the times of fits whose code is not that of the fit before."""
    return tuple(b.as_of for a, b in pairwise(points) if a.code_version != b.code_version)


def _plot(
    points: Sequence[HistoryPoint], systems: Sequence[Name], elos: Sequence[list[float | None]]
) -> Plot | None:
    """Draw a line for each system, if there is a time that lies before another."""
    times = [point.as_of.timestamp() for point in points]
    if len(set(times)) <= 1:
        return None
    named = zip(systems, elos, strict=True)
    series = [Series(system.text, tuple(values)) for system, values in named]
    plot = lines(times, series, x_label="", y_label="Elo")
    return replace(
        plot,
        x_ticks=_time_ticks(plot, times),
        marks=tuple(plot.x.place(at.timestamp()) for at in _changes(points)),
    )


def _chart(
    points: Sequence[HistoryPoint],
    systems: Sequence[Name],
    elos: Sequence[list[float | None]],
    *,
    is_simulated: bool,
) -> Chart:
    """Hand the same lines to the browser, times in milliseconds."""
    series = [
        {
            "name": system.text,
            "values": [None if elo is None else round(elo, 1) for elo in values],
            "texts": [written(elo, ColumnKind.ELO) for elo in values],
        }
        for system, values in zip(systems, elos, strict=True)
    ]
    parts = {
        "x": axis("", ColumnKind.NUMBER, isTime=True),
        "y": axis("Elo", ColumnKind.ELO),
        "places": [_milliseconds(point.as_of) for point in points],
        "said": [f"{point.as_of:%-d %b %Y, %H:%M} UTC" for point in points],
        "series": series,
        "marks": [_milliseconds(at) for at in _changes(points)],
    }
    return Chart(Picture.LINES, parts, is_simulated)


def _milliseconds(at: dt.datetime) -> int:
    return round(1000 * at.timestamp())


def _time_ticks(plot: Plot, times: Sequence[float]) -> tuple[Tick, ...]:
    """Name times evenly, by day, or by the minute where all is within two days."""
    first, last = min(times), max(times)
    form = "%-d %b %Y" if last - first > 2 * DAY.total_seconds() else "%-d %b, %H:%M"
    named = []
    for place in range(TICKS):
        at = first + (last - first) * place / (TICKS - 1)
        text = f"{dt.datetime.fromtimestamp(at, tz=dt.UTC):{form}}"
        named.append(Tick(plot.x.place(at), at, text))
    return tuple(named)
