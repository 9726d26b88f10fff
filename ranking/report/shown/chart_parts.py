"""What charts are made of: values on their axes, and rows with every figure also in words."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from ranking.findings import Cell, Column, ColumnKind, Table
from ranking.report.shown.cells import WORDS, Warmth, as_number
from ranking.report.shown.values import ShownCell, ShownRow, ShownTable

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


def cells_of(row: ShownRow) -> tuple[ShownCell, ...]:
    """Return all cells of a row, its head first."""
    return (row.head, *row.cells)


def named_rows(shown: ShownTable, table: Table) -> list[Parts]:
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


def _is_short(cell: ShownCell) -> bool:
    return len(cell.text) <= LONGEST_WORDS
