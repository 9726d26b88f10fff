"""Every table that leaves as CSV goes through here: no cell of it runs in a spreadsheet."""

import csv
import datetime as dt
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
NEGATIVE_NUMBER = re.compile(r"-\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
LINE = re.compile(r"[\r\n]?[^\r\n]+")
INNER_START = re.compile(r"""([;\t\r\n]"*)(?=[=+@]|-(?!\)))""")
"""Where a spreadsheet that parts cells at semicolons or tabs would find a formula in a text."""
CALM_START = re.compile(r"""([;\t\r\n]"*)(?=[=+@])""")
REACHES = re.compile(r"[(|!#]")
"""Without one of these a formula calls nothing and reads nothing: a hyphen may begin an item."""
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
    """Put an apostrophe before whatever of a text a spreadsheet would run as a formula.

    A negative number stays one, also when it comes as text.
    """
    if isinstance(cell, str):
        runs = cell.startswith(FORMULA_STARTS) and not NEGATIVE_NUMBER.fullmatch(cell)
        text = f"'{cell}" if runs else cell
        return LINE.sub(_defused_line, text) if INNER_START.search(text) else text
    return cell.isoformat() if isinstance(cell, dt.datetime) else cell


def _defused_line(line: re.Match[str]) -> str:
    starts = INNER_START if REACHES.search(line[0]) else CALM_START
    return starts.sub(r"\1'", line[0])
