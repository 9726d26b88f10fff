"""The charts of tables and of a leaderboard: what a browser needs to draw them, also in words."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext

from ranking.boards import CENTRE, Board
from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.models import HumanRating, Rating
from ranking.plots.planes import LOOKS, is_outside, known_limits
from ranking.plots.radar import MOST, RINGS, axes_of, least_step
from ranking.plots.tables import (
    FEWEST_DOTS,
    Row,
    Shades,
    alike,
    as_number,
    axes,
    dots,
    lines,
    places,
)
from ranking.report.written import NOTHING, Chart, RenderedCell, RenderedRow, RenderedTable, written

BETWEEN = " \N{MIDDLE DOT} "
LONGEST_WORDS = 48
Parts = dict[str, Any]


def scaled(value: float | None, kind: ColumnKind) -> float | None:
    """Return a value as its axis has it: shares in per cent, and no more digits than are drawn."""
    if value is None:
        return None
    return float(f"{100.0 * value if kind is ColumnKind.SHARE else value:.7g}")


def scaled_cell(cell: Cell, column: Column) -> float | None:
    """Return a cell as its axis has it, or None if it is no number."""
    return scaled(as_number(cell), column.kind)


def axis(label: str, kind: ColumnKind, **more: float | bool | None) -> Parts:
    """Return what the script has to know of an axis."""
    return {"label": label, "unit": " %" if kind is ColumnKind.SHARE else "", **more}


def heat_scale(values: Sequence[float], kind: ColumnKind) -> Parts:
    """Return the middle of a heat map and where its colours begin and end, scaled as its cells."""
    shades = Shades.of(values, kind)
    return {
        "middle": scaled(shades.start, kind),
        "reach": scaled(shades.reach, kind),
        "lowest": scaled(shades.low, kind),
        "unit": axis("", kind)["unit"],
    }


def cells_of(row: RenderedRow) -> tuple[RenderedCell, ...]:
    """Return all cells of a row, its head first."""
    return (row.head, *row.cells)


def named_rows(shown: RenderedTable, table: Table) -> list[Parts]:
    """Return each row's name, made of any words it begins with, and all it says beyond them."""
    lead = list(takewhile(lambda one: one.kind.is_words, table.columns))
    n_words = len(lead)
    named = []
    for row in shown.rows:
        cells = cells_of(row)
        rest = zip(shown.headers[n_words:], cells[n_words:], strict=True)
        said = [f"{head.text}: {cell.text}" for head, cell in rest if _is_short(cell)]
        lead_cells = cells[:n_words]
        is_simulated = any(cell.is_simulated for cell in lead_cells)
        name = BETWEEN.join(cell.text for cell in lead_cells)
        named.append({"name": name, "said": said} | marked(is_simulated=is_simulated))
    return named


def marked(*, is_simulated: bool) -> Parts:
    """Return the mark of what is simulated; there is none of what is real."""
    return {"isSimulated": True} if is_simulated else {}


def _is_short(cell: RenderedCell) -> bool:
    return len(cell.text) <= LONGEST_WORDS


BoardFigure = tuple[str, str, str, Chart]


def figures_of_board(board: Board) -> tuple[BoardFigure, ...]:
    """Return the charts beside a leaderboard that has ratings: systems, then their dimensions.

    Each has its key, its title and its caption before it; the board's table holds all figures.
    """
    if not board.rows:
        return ()
    return (_ratings_figure(board), *_dimensions_figure(board))


def _ratings_figure(board: Board) -> BoardFigure:
    caption = gettext(
        "A dot is a rating, the dark line its 95 % interval, the pale band covers all "
        "systems jointly; the dashed vertical line is the mean. Hollow dots are what people wrote."
    )
    return "drawn-ratings", gettext("Ratings and intervals"), caption, _ratings(board)


def _dimensions_figure(board: Board) -> tuple[BoardFigure, ...]:
    chart = _dimensions(board)
    caption = gettext(
        "Per cent of the marks won on each dimension: one colour is above an even split, the other "
        "below."
    )
    title = gettext("Dimension by dimension")
    return (("drawn-dimensions", title, caption, chart),) if chart else ()


def _ratings(board: Board) -> Chart:
    rows = [*map(_system, board.rows), *map(_people, board.people)]
    parts = {"x": axis("Elo", ColumnKind.ELO), "centre": CENTRE, "rows": rows}
    return Chart(Picture.WHISKERS, parts, _of_simulated(board))


def _dimensions(board: Board) -> Chart | None:
    shares = [[share.per_cent for share in row.dimensions] for row in board.rows]
    known = [share for row in shares for share in row if share is not None]
    if not known:
        return None
    parts = {
        "columns": [one.name for one in board.dimensions],
        "rows": [row.name for row in board.rows],
        "values": [[None if one is None else round(one, 4) for one in row] for row in shares],
        "texts": [[_per_cent(share) for share in row] for row in shares],
        **heat_scale([share / 100.0 for share in known], ColumnKind.SHARE),
    }
    return Chart(Picture.HEAT, parts, _of_simulated(board))


def _of_simulated(board: Board) -> bool:
    return board.fit.is_simulated or any(row.system.is_simulated for row in board.rows)


def _system(row: Rating) -> Parts:
    more = [
        f"{gettext('Rank')}: {row.rank_text}",
        f"{gettext('Won')}: {_per_cent(row.win_rate)}",
    ]
    joint = {"jointLow": _point(row.joint_low), "jointHigh": _point(row.joint_high)}
    looks = {"isHollow": row.is_baseline} | marked(is_simulated=row.system.is_simulated)
    return _rated(row, more) | joint | looks


def _people(row: HumanRating) -> Parts:
    return _rated(row, []) | {"isHollow": True}


def _rated(row: Rating | HumanRating, more: list[str]) -> Parts:
    interval = f"{row.elo_low:.0f} {gettext('to')} {row.elo_high:.0f}"
    said = [f"Elo: {row.elo:.0f}", f"{gettext('95 % interval')}: {interval}", *more]
    judged = f"{gettext('Judgments')}: {row.n_judgments}"
    ends = {"value": _point(row.elo), "low": _point(row.elo_low), "high": _point(row.elo_high)}
    return {"name": row.name, "said": [*said, judged], **ends}


def _point(elo: float | None) -> float | None:
    return None if elo is None else round(elo, 2)


def _per_cent(share: float | None) -> str:
    return NOTHING if share is None else f"{number_format(round(share, 1), 1)} %"


CENTRES = (0.0, 1500.0)


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
    kind, meant = alike(table)
    values = [[as_number(row[n]) for n in meant] for row in table.rows]
    known = [value for row in values for value in row if value is not None]
    if kind.is_words or not known:
        return None
    return {
        "columns": [shown.headers[n].text for n in meant],
        "rows": [row.head.text for row in shown.rows],
        "values": [[scaled(value, kind) for value in row] for row in values],
        "texts": [[written(row[n], kind) for n in meant] for row in table.rows],
        **heat_scale(known, kind),
    }


def _whiskers(shown: RenderedTable, table: Table) -> Parts | None:
    at = places(table, "value", "low", "high")
    if at is None:
        return None
    column, rows, lows, highs = table.columns[at[0]], list[Parts](), list[float](), list[float]()
    for row, named in zip(table.rows, named_rows(shown, table), strict=True):
        value, low, high = (as_number(row[n]) for n in at)
        if value is not None and low is not None and high is not None:
            ends = {"value": value, "low": low, "high": high}
            rows.append(named | {key: scaled(end, column.kind) for key, end in ends.items()})
            lows.append(low)
            highs.append(high)
    centre = scaled(centre_of(column.kind, lows, highs), column.kind)
    parts = {"x": axis(column.label, column.kind), "centre": centre, "rows": rows}
    return parts if rows else None


def centre_of(kind: ColumnKind, lows: Sequence[float], highs: Sequence[float]) -> float | None:
    """Return what intervals are held against: no difference, the mean, or as many either way."""
    low, high = min(lows, default=0.0), max(highs, default=0.0)
    if kind is ColumnKind.SHARE:
        return 0.5 if low >= 0 else 0.0  # below 0 are only differences of shares
    return next((centre for centre in CENTRES if low <= centre <= high), None)


def _points(shown: RenderedTable, table: Table) -> Parts | None:
    """Draw dots, each with the interval of its height if the table has one."""
    ends = ("low", "high") if places(table, "low", "high") else ()
    rows = _dots(shown, table, ("x", "y", *ends))
    if not rows:
        return None
    x, y = axes(table)
    is_logarithmic = x.is_logarithmic and all(row["x"] > 0 for row in rows)
    return {
        "x": axis(x.label, x.kind, isLogarithmic=is_logarithmic, mark=scaled(x.mark, x.kind)),
        "y": axis(y.label, y.kind),
        "rows": rows,
        "hasDiagonal": x.kind is y.kind,
    }


def _dots(shown: RenderedTable, table: Table, keys: Sequence[str]) -> list[Parts]:
    """Return the rows whose ``x`` and ``y`` are known, with what stands in these columns."""
    named = named_rows(shown, table)
    at = dict(zip(keys, places(table, *keys) or (), strict=False))
    return [
        named[n]
        | {key: scaled_cell(table.rows[n][one], table.columns[one]) for key, one in at.items()}
        for n, _, _ in dots(table)
    ]


def _lines(shown: RenderedTable, table: Table) -> Parts | None:
    known, meant = lines(table)
    if not known or not meant:
        return None
    (x,) = (table.columns[n] for n in places(table, "x") or ())
    rows = [row for _, row in known]
    return {
        "x": axis(x.label, x.kind),
        "y": axis("", table.columns[meant[0]].kind),
        "places": [scaled(at, x.kind) for at, _ in known],
        "said": [written(at, x.kind) for at, _ in known],
        "series": [_series(shown.headers[n].text, n, rows, table.columns[n]) for n in meant],
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
    at = axes_of(table)
    if not at:
        return None
    first = table.columns[at[0]]
    values = [[as_number(row[n]) for n in at] for row in table.rows]
    rows = [
        named | {"values": [scaled(value, first.kind) for value in row]}
        for named, row in zip(named_rows(shown, table), values, strict=True)
    ]
    for row, of_table in zip(rows, shown.rows, strict=True):
        row |= {"slug": of_table.slug, "isDrawn": of_table.style is not None}
    return {
        "axes": [shown.headers[n].text for n in at],
        "unit": axis("", first.kind)["unit"],
        "least": scaled(least_step(first.kind), first.kind),
        "rings": RINGS,
        "mark": scaled(first.mark, first.kind),
        "rows": rows,
        "most": MOST,
    }


def _funnel(shown: RenderedTable, table: Table) -> Parts | None:
    rows = _dots(shown, table, ("x", "y", *(key for key in LOOKS if places(table, key))))
    if len(rows) < FEWEST_DOTS:
        return None
    for row in rows:
        row["isOutside"] = is_outside(row["y"], row.get("low"), row.get("high"))
    x, y = axes(table)
    both = {"x": axis(x.label, x.kind), "y": axis(y.label, y.kind)}
    return both | {"rows": rows, "limits": {key: _limit(rows, key) for key in LOOKS}}


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
