"""How ratings moved, as a page shows it: lines over time, and the figures behind them."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from annotation.models import Study
from ranking import results_selectors
from ranking.choices import ContextSet, EvaluatorPool
from ranking.history_selectors import HistoryPoint, history
from ranking.results_names import Name
from ranking.results_plots import Plot, Series, lines
from ranking.results_scales import Tick

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


def history_page(study: Study, pool: EvaluatorPool, context_set: ContextSet) -> History:
    """Return how the ratings of a selection moved, systems by their newest rating. Five queries."""
    points = history(study, pool, context_set, most=MOST_POINTS)
    names = results_selectors.names_in(study, shows_people=True)
    slugs = _by_newest(points)
    rows = tuple(_row(point, slugs) for point in reversed(points))
    systems = tuple(map(names.system, slugs))
    plot = _plot(rows, systems, _changes(points))
    is_simulated = any(one.is_simulated for one in systems)
    is_simulated = is_simulated or any(one.is_simulated for one in points)
    return History(systems, rows, plot, is_simulated)


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
