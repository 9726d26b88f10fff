"""The charts of tables: what a browser needs to draw them, with every figure also in words."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ranking.findings import Column, Picture, Table
from ranking.plots.funnel import is_outside, known_limits
from ranking.plots.radar import MOST, RINGS, axes_of, least_step
from ranking.plots.whiskers import Interval
from ranking.report.rendered.board_charts import (
    Parts,
    axis,
    cells_of,
    heat_scale,
    named_rows,
    places_of,
    scaled,
    scaled_cell,
)
from ranking.report.rendered.cells import WORDS, as_number, written
from ranking.report.rendered.people import Row
from ranking.report.rendered.pictures import FEWEST_DOTS, centre_of
from ranking.report.rendered.values import Chart, RenderedTable

LIMITS = ("centre", "low", "high", "outer_low", "outer_high")


def with_chart(shown: RenderedTable, table: Table) -> RenderedTable:
    """Add the chart of a table that has rows, and the columns that its picture draws."""
    draw = _DRAWN.get(table.picture)
    parts = draw(shown, table) if draw and table.rows else None
    if parts is None:
        return shown
    return replace(shown, chart=Chart(table.picture, parts, _is_simulated(shown)))


def _is_simulated(shown: RenderedTable) -> bool:
    cells = (cell for row in shown.rows for cell in cells_of(row))
    return any(head.is_simulated for head in shown.headers) or any(
        cell.is_simulated for cell in cells
    )


def _heat(shown: RenderedTable, table: Table) -> Parts | None:
    """Draw the cells of one kind, that of the second column, as the table shades them."""
    kind = table.columns[1].kind if len(table.columns) > 1 else table.columns[0].kind
    if kind in WORDS:
        return None
    meant = [n for n, column in enumerate(table.columns) if n and column.kind is kind]
    values = [[as_number(row[n]) for n in meant] for row in table.rows]
    return {
        "columns": [shown.headers[n].text for n in meant],
        "rows": [row.head.text for row in shown.rows],
        "values": [[scaled(value, kind) for value in row] for row in values],
        "texts": [[written(row[n], kind) for n in meant] for row in table.rows],
        **heat_scale([value for row in values for value in row if value is not None], kind),
    }


def _whiskers(shown: RenderedTable, table: Table) -> Parts | None:
    places = places_of(table, ("value", "low", "high"))
    if places is None:
        return None
    column = table.columns[places["value"]]
    rows, intervals = list[Parts](), list[Interval]()
    for row, named in zip(table.rows, named_rows(shown, table), strict=True):
        ends = {
            key: number for key, n in places.items() if (number := as_number(row[n])) is not None
        }
        if len(ends) == len(places):
            rows.append(named | {key: scaled(end, column.kind) for key, end in ends.items()})
            intervals.append(Interval(ends["low"], ends["value"], ends["high"]))
    centre = scaled(centre_of(column.kind, intervals), column.kind)
    parts = {"x": axis(column.label, column.kind), "centre": centre, "rows": rows}
    return parts if rows else None


def _points(shown: RenderedTable, table: Table) -> Parts | None:
    """Draw dots, each with the interval of its height if the table has one."""
    places = places_of(table, ("x", "y"))
    if places is None:
        return None
    x, y = (table.columns[places[key]] for key in ("x", "y"))
    rows = _dots(shown, table, places | (places_of(table, ("low", "high")) or {}))
    is_logarithmic = x.is_logarithmic and all(row["x"] > 0 for row in rows)
    axes = {
        "x": axis(x.label, x.kind, isLogarithmic=is_logarithmic, mark=scaled(x.mark, x.kind)),
        "y": axis(y.label, y.kind),
    }
    return axes | {"rows": rows, "hasDiagonal": x.kind is y.kind} if rows else None


def _dots(shown: RenderedTable, table: Table, places: dict[str, int]) -> list[Parts]:
    """Return the rows whose ``x`` and ``y`` are known."""
    dots = []
    for row, named in zip(table.rows, named_rows(shown, table), strict=True):
        known = {key: scaled_cell(row[n], table.columns[n]) for key, n in places.items()}
        if None not in (known["x"], known["y"]):
            dots.append(named | known)
    return dots


def _lines(shown: RenderedTable, table: Table) -> Parts | None:
    places = places_of(table, ("x",))
    if places is None:
        return None
    x = places["x"]
    known = [row for row in table.rows if as_number(row[x]) is not None]
    meant = [n for n, one in enumerate(table.columns) if n != x and one.kind not in WORDS]
    if not known or not meant:
        return None
    kind = table.columns[meant[0]].kind
    return {
        "x": axis(table.columns[x].label, table.columns[x].kind),
        "y": axis("", kind),
        "places": [scaled_cell(row[x], table.columns[x]) for row in known],
        "said": [written(row[x], table.columns[x].kind) for row in known],
        "series": [_series(shown.headers[n].text, n, known, table.columns[n]) for n in meant],
        "marks": [],
    }


def _series(name: str, n: int, rows: Sequence[Row], column: Column) -> Parts:
    return {
        "name": name,
        "values": [scaled_cell(row[n], column) for row in rows],
        "texts": [written(row[n], column.kind) for row in rows],
    }


def _radar(shown: RenderedTable, table: Table) -> Parts | None:
    """Draw the same rows as the picture at first; all can be chosen, some at a time."""
    axes = axes_of(table)
    if not axes:
        return None
    first = table.columns[axes[0]]
    values = [[as_number(row[n]) for n in axes] for row in table.rows]
    rows = [
        named | {"values": [scaled(value, first.kind) for value in row]}
        for named, row in zip(named_rows(shown, table), values, strict=True)
    ]
    for row, choice in zip(rows, shown.choices, strict=True):
        row |= {"slug": choice.slug, "isDrawn": choice.style is not None}
    return {
        "axes": [shown.headers[n].text for n in axes],
        "unit": axis("", first.kind)["unit"],
        "least": scaled(least_step(first.kind), first.kind),
        "rings": RINGS,
        "mark": scaled(first.mark, first.kind),
        "rows": rows,
        "most": MOST,
    }


def _funnel(shown: RenderedTable, table: Table) -> Parts | None:
    places = places_of(table, ("x", "y"))
    if places is None:
        return None
    x, y = (table.columns[places[key]] for key in ("x", "y"))
    places |= {key: at[key] for key in LIMITS if (at := places_of(table, (key,)))}
    rows = _dots(shown, table, places)
    for row in rows:
        row["isOutside"] = is_outside(row["y"], row.get("low"), row.get("high"))
    if len(rows) < FEWEST_DOTS:
        return None
    axes = {"x": axis(x.label, x.kind), "y": axis(y.label, y.kind)}
    return axes | {"rows": rows, "limits": {key: _limit(rows, key) for key in LIMITS}}


def _limit(rows: Sequence[Parts], key: str) -> list[tuple[float, float]]:
    """Return the points of a limit's curve, none if it is not known."""
    limit = known_limits([row["x"] for row in rows], [row.get(key) for row in rows])
    return [(round(x, 4), round(y, 6)) for x, y in limit.curve()] if limit else []


_DRAWN: dict[Picture, Callable[[RenderedTable, Table], Parts | None]] = {
    Picture.HEAT: _heat,
    Picture.WHISKERS: _whiskers,
    Picture.POINTS: _points,
    Picture.LINES: _lines,
    Picture.RADAR: _radar,
    Picture.FUNNEL: _funnel,
}
