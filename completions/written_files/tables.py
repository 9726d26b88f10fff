"""CSV: a first line that names the columns, and cells between commas, semicolons or tabs."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from completions.ingest.reading import Entry
from completions.written_files.errors import WrittenFileError

SEPARATORS = (",", ";", "\t")
"""What spreadsheets write, by the country they are set to."""
_SAID = {
    "unexpected end of data": "a quotation mark opens here and is never closed",
    "field larger": "a quotation mark opens here and is not closed for very long",
    "expected after": 'a quotation mark inside of a cell has to be doubled: ""',
    "new-line character": "the line ends are of an old kind; save the file as CSV UTF-8",
}


@dataclass(frozen=True)
class Columns:
    """The columns that are read, and those among them that have to be there."""

    known: Sequence[str]
    required: Sequence[str]


def table(lines: Iterator[str], columns: Columns) -> Iterator[Entry]:
    """Yield the rows by the names of their columns; empty rows are passed over.

    Raises
    ------
    WrittenFileError
        If the first line does not name the columns, or quotation marks do not match.
    """
    first = next(lines)
    separator, names = _header(first, columns)
    rows = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        line = rows.line_num + 2  # the reader counts from the line after the first
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            _fail(line, error)
        if any(cell.strip() for cell in cells):
            yield _entry(cells, names, line)


def _header(line: str, columns: Columns) -> tuple[str, list[str]]:
    """Return the separator that gives the columns, and their names."""
    for separator in SEPARATORS:
        names = _names(line, separator)
        if set(columns.required) <= set(names):
            break
    else:
        missing = ", ".join(name for name in columns.required if name not in _names(line, ","))
        msg = f"line 1 names no column {missing}; it has to name {', '.join(columns.known)}"
        raise WrittenFileError(msg)
    twice = sorted({name for name in names if names.count(name) > 1 and name in columns.known})
    if twice:
        msg = f"line 1 names a column twice: {', '.join(twice)}"
        raise WrittenFileError(msg)
    return separator, names


def _names(line: str, separator: str) -> list[str]:
    try:
        cells = next(csv.reader([line], delimiter=separator, strict=True))
    except csv.Error as error:
        _fail(1, error)
    return [cell.strip().lower() for cell in cells]


def _entry(cells: Sequence[str], names: Sequence[str], line: int) -> Entry:
    if len(cells) == len(names):
        return Entry(line, dict(zip(names, cells, strict=True)), line)
    fault = f"has {len(cells)} cells, and line 1 names {len(names)} columns"
    more = "; put a text with a separator in it in quotation marks"
    return Entry(line, None, line, fault + (more if len(cells) > len(names) else ""))


def _fail(line: int, error: csv.Error) -> NoReturn:
    said = next((said for part, said in _SAID.items() if part in str(error)), str(error))
    msg = f"line {line:,}: {said}"
    raise WrittenFileError(msg) from error
