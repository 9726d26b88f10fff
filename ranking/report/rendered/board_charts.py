"""The charts beside a leaderboard, and what all charts are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext

from ranking.boards.board import CENTRE, Board, BoardRow, PeopleRow
from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.report.rendered.cells import NOTHING, WORDS, Warmth, as_number
from ranking.report.rendered.values import Chart, RenderedCell, RenderedRow, RenderedTable

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
    warmth = Warmth.of(values, kind)
    return {
        "middle": scaled(warmth.middle, kind),
        "reach": scaled(warmth.reach, kind),
        "lowest": scaled(warmth.lowest, kind),
        "unit": axis("", kind)["unit"],
    }


def places_of(table: Table, keys: Sequence[str]) -> dict[str, int] | None:
    """Return where the columns of these keys are, or None if one is missing."""
    known = {column.key: n for n, column in enumerate(table.columns)}
    return {key: known[key] for key in keys} if set(keys) <= set(known) else None


def cells_of(row: RenderedRow) -> tuple[RenderedCell, ...]:
    """Return all cells of a row, its head first."""
    return (row.head, *row.cells)


def named_rows(shown: RenderedTable, table: Table) -> list[Parts]:
    """Return each row's name, made of any words it begins with, and all it says beyond them."""
    lead = list(takewhile(lambda one: one.kind in WORDS, table.columns))
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


@dataclass(frozen=True)
class BoardFigure:
    """A chart beside the leaderboard, whose table holds all of its figures."""

    key: str
    title: str
    caption: str
    chart: Chart


def figures_of_board(board: Board | None) -> tuple[BoardFigure, ...]:
    """Return the charts of a leaderboard that has ratings: systems, then their dimensions."""
    if board is None or not board.rows:
        return ()
    return (_ratings_figure(board), *_dimensions_figure(board))


def _ratings_figure(board: Board) -> BoardFigure:
    caption = gettext(
        "A dot is a rating, the dark line its 95 % interval, the pale band covers all "
        "systems jointly; the dashed vertical line is the mean. Hollow dots are what people wrote."
    )
    return BoardFigure("drawn-ratings", gettext("Ratings and intervals"), caption, _ratings(board))


def _dimensions_figure(board: Board) -> tuple[BoardFigure, ...]:
    chart = _dimensions(board)
    caption = gettext(
        "Per cent of the marks won on each dimension: one colour is above an even split, the other "
        "below."
    )
    title = gettext("Dimension by dimension")
    return (BoardFigure("drawn-dimensions", title, caption, chart),) if chart else ()


def _ratings(board: Board) -> Chart:
    rows = [*map(_system, board.rows), *map(_people, board.people)]
    parts = {"x": axis("Elo", ColumnKind.ELO), "centre": CENTRE, "rows": rows}
    return Chart(Picture.WHISKERS, parts, _is_simulated(board))


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
    return Chart(Picture.HEAT, parts, _is_simulated(board))


def _is_simulated(board: Board) -> bool:
    return board.conditions.is_simulated or any(row.is_simulated for row in board.rows)


def _system(row: BoardRow) -> Parts:
    more = [
        f"{gettext('Rank')}: {row.rank_text}",
        f"{gettext('Won')}: {_per_cent(row.win_rate)}",
    ]
    joint = {"jointLow": _point(row.joint_low), "jointHigh": _point(row.joint_high)}
    looks = {"isHollow": row.is_baseline} | marked(is_simulated=row.is_simulated)
    return _rated(row, more) | joint | looks


def _people(row: PeopleRow) -> Parts:
    return _rated(row, []) | {"isHollow": True}


def _rated(row: BoardRow | PeopleRow, more: list[str]) -> Parts:
    interval = f"{row.elo_low:.0f} {gettext('to')} {row.elo_high:.0f}"
    said = [f"Elo: {row.elo:.0f}", f"{gettext('95 % interval')}: {interval}", *more]
    judged = f"{gettext('Judgments')}: {row.n_judgments}"
    ends = {"value": _point(row.elo), "low": _point(row.elo_low), "high": _point(row.elo_high)}
    return {"name": row.name, "said": [*said, judged], **ends}


def _point(elo: float | None) -> float | None:
    return None if elo is None else round(elo, 2)


def _per_cent(share: float | None) -> str:
    return NOTHING if share is None else f"{number_format(round(share, 1), 1)} %"
