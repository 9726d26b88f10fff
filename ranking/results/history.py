"""How ratings moved, as a page shows it: lines over time, and the figures behind them."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ranking.choices import ContextSet, EvaluatorPool
from ranking.findings import ColumnKind, Picture
from ranking.fits.analysis_queries import HistoryPoint, history
from ranking.fits.selectors import Results
from ranking.plots.planes import Plot, Series, lines
from ranking.plots.scales import Tick
from ranking.report import queries
from ranking.report.rendered.board_charts import axis
from ranking.report.rendered.cells import written
from ranking.report.rendered.values import Chart, Name

MOST_POINTS = 100
TICKS = 4
DAY = dt.timedelta(days=1)


@dataclass(frozen=True)
class HistoryRow:
    """One fit: when, its name, and the rating of each system of the page, in points."""

    key: str
    as_of: dt.datetime
    n_judgments: int
    elos: tuple[float | None, ...]


@dataclass(frozen=True)
class History:
    """The ratings of a selection over time; rows are newest first.

    ``is_simulated`` says whether a system, a person or a judge behind any of them is.
    """

    systems: tuple[Name, ...]
    rows: tuple[HistoryRow, ...]
    plot: Plot | None
    is_simulated: bool
    chart: Chart | None = None


def history_page(results: Results, pool: EvaluatorPool, context_set: ContextSet) -> History:
    """Return how the ratings of a selection moved, systems by their newest rating. Five queries."""
    points = history(results, pool, context_set, most=MOST_POINTS)
    names = queries.names_in(results.study, shows_people=True)
    slugs = _by_newest(points)
    rows = tuple(_row(point, slugs) for point in reversed(points))
    systems = tuple(map(names.system, slugs))
    plot = _plot(rows, systems, _changes(points))
    is_simulated = any(one.is_simulated for one in systems)
    is_simulated = is_simulated or any(one.is_simulated for one in points)
    chart = _chart(rows, systems, _changes(points), is_simulated=is_simulated) if plot else None
    return History(systems, rows, plot, is_simulated, chart)


def _by_newest(points: Sequence[HistoryPoint]) -> list[str]:
    """Return all systems that ever had a rating, the best of the newest first."""
    newest = {slug: band.elo for point in points for slug, band in point.systems.items()}
    return sorted(newest, key=lambda slug: (-newest[slug], slug))


def _row(point: HistoryPoint, slugs: Sequence[str]) -> HistoryRow:
    bands = (point.systems.get(slug) for slug in slugs)
    elos = tuple(None if band is None else band.elo for band in bands)
    return HistoryRow(point.key, point.as_of, point.n_judgments, elos)


def _changes(points: Sequence[HistoryPoint]) -> tuple[dt.datetime, ...]:
    """Return the times of fits whose code is not that of the fit before."""
    return tuple(b.as_of for a, b in pairwise(points) if a.code_version != b.code_version)


def _plot(
    rows: Sequence[HistoryRow], systems: Sequence[Name], changes: Sequence[dt.datetime]
) -> Plot | None:
    """Draw a line for each system, if there is a time that lies before another."""
    times = [row.as_of.timestamp() for row in reversed(rows)]
    if len(set(times)) <= 1:
        return None
    series = [
        Series(system.text, tuple(row.elos[n] for row in reversed(rows)))
        for n, system in enumerate(systems)
    ]
    plot = lines(times, series, x_label="", y_label="Elo")
    return replace(
        plot,
        x_ticks=_time_ticks(plot, times),
        marks=tuple(plot.along(at.timestamp(), times) for at in changes),
    )


def _chart(
    rows: Sequence[HistoryRow],
    systems: Sequence[Name],
    changes: Sequence[dt.datetime],
    *,
    is_simulated: bool,
) -> Chart:
    """Hand the same lines to the browser, times in milliseconds."""
    drawn = rows[::-1]
    series = []
    for n, system in enumerate(systems):
        elos = [row.elos[n] for row in drawn]
        texts = [written(elo, ColumnKind.ELO) for elo in elos]
        values = [None if elo is None else round(elo, 1) for elo in elos]
        series.append({"name": system.text, "values": values, "texts": texts})
    parts = {
        "x": axis("", ColumnKind.NUMBER, isTime=True),
        "y": axis("Elo", ColumnKind.ELO),
        "places": [_milliseconds(row.as_of) for row in drawn],
        "said": [f"{row.as_of:%Y-%m-%d %H:%M} UTC" for row in drawn],
        "series": series,
        "marks": [_milliseconds(at) for at in changes],
    }
    return Chart(Picture.LINES, parts, is_simulated)


def _milliseconds(at: dt.datetime) -> int:
    return round(1000 * at.timestamp())


def _time_ticks(plot: Plot, times: Sequence[float]) -> tuple[Tick, ...]:
    """Name times evenly, by day, or by the minute where all is within two days."""
    first, last = min(times), max(times)
    form = "%Y-%m-%d" if last - first > 2 * DAY.total_seconds() else "%m-%d %H:%M"
    named = []
    for place in range(TICKS):
        at = first + (last - first) * place / (TICKS - 1)
        text = f"{dt.datetime.fromtimestamp(at, tz=dt.UTC):{form}}"
        named.append(Tick(plot.along(at, times), at, text))
    return tuple(named)
