"""Every table that leaves as CSV goes through here: no cell of it runs in a spreadsheet."""

import csv
import datetime as dt
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
NEGATIVE_NUMBER = re.compile(r"-\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
BYTE_ORDER_MARK = "\ufeff"
Cell: TypeAlias = str | int | float | bool | dt.datetime | None


class _Line:
    """A file that hands back what was written to it."""

    def write(self, text: str) -> str:
        return text


def csv_lines(rows: Iterable[Iterable[Cell]], *, bom: bool = False) -> Iterator[str]:
    """Turn rows into lines of CSV, one by one, with spreadsheet formulas made harmless.

    With ``bom`` the first line begins with a byte order mark, by which some spreadsheets know
    that the text is UTF-8.
    """
    writer = csv.writer(_Line())
    start = BYTE_ORDER_MARK if bom else ""
    for row in rows:
        yield start + writer.writerow([defuse(cell) for cell in row])
        start = ""


def defuse(cell: Cell) -> Cell:
    """Put an apostrophe before text that a spreadsheet would run as a formula.

    A negative number stays one, also when it comes as text.
    """
    if isinstance(cell, str):
        runs = cell.startswith(FORMULA_STARTS) and not NEGATIVE_NUMBER.fullmatch(cell)
        return f"'{cell}" if runs else cell
    return cell.isoformat() if isinstance(cell, dt.datetime) else cell
