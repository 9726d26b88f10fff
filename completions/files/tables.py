"""CSV: a header that names the columns, and cells between separators."""

import csv
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from completions.files.records import FileEntry
from completions.files.refusals import InputFileError

SEPARATORS = (",", ";", "\t", "|")
"""What spreadsheets write, by the country they are set to."""
SEP_LINE = re.compile(r"sep=([,;\t|])", re.IGNORECASE)
BETWEEN = re.compile(r"[\s_-]+")
_SAID = {
    "unexpected end of data": "a quotation mark opens here and is never closed",
    "field larger": "a quotation mark opens here and is not closed for very long",
    "expected after": 'a quotation mark inside of a cell has to be doubled: ""',
}


@dataclass(frozen=True)
class Columns:
    """The columns that are read, and those among them that have to be there.

    With ``keeps_others`` the names of other columns stay as they were written.
    """

    known: Sequence[str] = ()
    required: Sequence[str] = ()
    keeps_others: bool = False

    def spelled(self, cell: str) -> str:
        """Return the name of a column as its rows are read by it."""
        name = named(cell)
        return " ".join(cell.split()) if self.keeps_others and name not in self.known else name


def table(lines: Iterator[str], columns: Columns) -> Iterator[FileEntry]:
    """Yield the rows by the names of their columns; empty rows are passed over.

    A first line such as ``sep=;``, which Excel reads, tells the separator. Columns at the end
    without a name and without a cell are no columns.

    Raises
    ------
    InputFileError
        If the header does not name the columns, or quotation marks do not match.
    """
    told = ""
    for at, first in enumerate(lines, start=1):  # noqa: B007 (both are used after it)
        if found := SEP_LINE.fullmatch(first.strip("\n")):
            told = found[1]
        elif first.strip():
            break
    separator, names = _header(first, columns, at, told)
    rows = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        line = rows.line_num + at + 1  # the reader counts from the line after the header
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            _fail(line, error)
        if any(cell.strip() for cell in cells):
            yield _entry(cells, names, line, at)


def named(cell: str) -> str:
    """Return the name of a column: in lower case, with ``_`` for spaces and hyphens."""
    return BETWEEN.sub("_", unicodedata.normalize("NFC", cell).strip().lower())


def _header(line: str, columns: Columns, at: int, told: str) -> tuple[str, list[str]]:
    """Return the separator that gives the columns, and their names."""
    tried = {one: _names(line, one, columns) for one in told or SEPARATORS}
    required = set(columns.required)
    separator = max(tried, key=lambda one: (len(required & set(tried[one])), len(tried[one])))
    names = tried[separator]
    if missing := [name for name in columns.required if name not in names]:
        _check_quotes(line, at)
        known = ", ".join(columns.known)
        msg = f"line {at} names no column {', '.join(missing)}; it has to name {known}"
        raise InputFileError(msg)
    alike = [named(name) for name in names]
    twice = sorted({name for name in alike if name and alike.count(name) > 1})
    if twice:
        msg = f"line {at} names a column twice: {', '.join(twice)}"
        raise InputFileError(msg)
    return separator, names


def _names(line: str, separator: str, columns: Columns) -> list[str]:
    """Return the names of the columns; none where the quotation marks do not fit."""
    try:
        cells = next(csv.reader([line], delimiter=separator, strict=True), [])
    except csv.Error:
        return []
    names = [columns.spelled(cell) for cell in cells]
    while names and not names[-1]:
        names.pop()
    return names


def _check_quotes(line: str, at: int) -> None:
    try:
        next(csv.reader([line], strict=True), [])
    except csv.Error as error:
        _fail(at, error)


def _entry(cells: list[str], names: Sequence[str], line: int, at: int) -> FileEntry:
    while len(cells) > len(names) and not cells[-1].strip():
        cells.pop()
    if len(cells) == len(names):
        return FileEntry(line, dict(zip(names, cells, strict=True)), line)
    fault = f"has {len(cells)} cells, and line {at} names {len(names)} columns"
    more = "; put a text with a separator in it in quotation marks"
    return FileEntry(line, None, line, fault + (more if len(cells) > len(names) else ""))


def _fail(line: int, error: csv.Error) -> NoReturn:
    said = next((said for part, said in _SAID.items() if part in str(error)), str(error))
    msg = f"line {line:,}: {said}"
    raise InputFileError(msg) from error
