"""Go through a file once: its lines, the rows in them, and what stands twice."""

import hashlib
import itertools
from collections.abc import Iterator
from typing import BinaryIO

from completions.ingest.reading import Entry
from completions.written_files.errors import Reason, RefusedRow, WrittenFileError, refused
from completions.written_files.lines import objects
from completions.written_files.rows import COLUMNS, REQUIRED, WrittenRow, checked
from completions.written_files.tables import Columns, table

MOST_ROWS = 50_000
LONGEST_LINE = 100_000
"""Bytes: a message of 4,000 characters has less than half of it in any spelling."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
OTHER_FILES = {
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"PK\x03\x04": "a workbook or an archive",
}
SAVE_AS = 'save it as UTF-8 (in Excel, "CSV UTF-8")'


def entries(file: BinaryIO, columns: Columns, *, most_rows: int, what: str) -> Iterator[Entry]:
    """Yield what stands in the rows of a table or of JSON lines, whatever they are rows of.

    Raises
    ------
    WrittenFileError
        If the file as a whole cannot be read, or has no rows; ``what`` says what it lacks then.
    """
    n_rows = 0
    for n_rows, entry in enumerate(_entries(_lines(file), columns), start=1):
        if n_rows > most_rows:
            msg = f"has over {most_rows:,} rows; split it into several files"
            raise WrittenFileError(msg)
        yield entry
    if not n_rows:
        msg = f"has no {what}"
        raise WrittenFileError(msg)


class WrittenFile:
    """The rows of a file of messages, and the columns in it that nobody reads."""

    def __init__(self, file: BinaryIO, *, most_rows: int = MOST_ROWS) -> None:
        self.unknown: dict[str, None] = {}
        self._file = file
        self._most_rows = most_rows

    def __iter__(self) -> Iterator[WrittenRow | RefusedRow]:
        """Yield every row that can be used, and a word about each that cannot.

        Raises
        ------
        WrittenFileError
            If the file as a whole cannot be read: not UTF-8, no columns, quotation marks that do
            not match, a line or the file too long, or not one row.
        """
        seen = _Seen()
        columns = Columns(COLUMNS, REQUIRED)
        for entry in entries(self._file, columns, most_rows=self._most_rows, what="messages"):
            yield seen.once(self._row(entry))

    def _row(self, entry: Entry) -> WrittenRow | RefusedRow:
        line = entry.line or entry.number
        if entry.fault:
            return refused(line, Reason.UNREADABLE, entry.fault)
        if isinstance(entry.value, dict):
            self.unknown.update(dict.fromkeys(sorted(entry.value.keys() - set(COLUMNS))))
        return checked(entry.value, line)


class _Seen:
    """The talks that each author of the file wrote for so far."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[int, bytes]] = {}

    def once(self, row: WrittenRow | RefusedRow) -> WrittenRow | RefusedRow:
        """Pass a row on, but one per author and talk."""
        if isinstance(row, RefusedRow):
            return row
        text = hashlib.sha256(row.text.strip().encode()).digest()
        line, known = self._known.setdefault((row.context, row.author), (row.line, text))
        if line == row.line:
            return row
        if known == text:
            return refused(row.line, Reason.REPEATED, f"stands on line {line:,} already")
        why = f"line {line:,} has another message of this author for this talk"
        return refused(row.line, Reason.SECOND_TEXT, why)


def _entries(lines: Iterator[str], columns: Columns) -> Iterator[Entry]:
    first = next(lines, "")
    if not first.strip():
        msg = f"line 1 is empty; it has to name the columns: {', '.join(columns.known)}"
        raise WrittenFileError(msg)
    if first.lstrip().startswith("["):
        msg = "is a JSON list; write one object per line, without commas between them"
        raise WrittenFileError(msg)
    lines = itertools.chain([first], lines)
    return objects(lines) if first.lstrip().startswith("{") else table(lines, columns)


def _lines(file: BinaryIO) -> Iterator[str]:
    """Yield the lines as text, and say line and column of what is not UTF-8."""
    for number in itertools.count(1):
        data = file.readline(LONGEST_LINE + 1)
        if number == 1:
            data = _without_mark(data)
        if not data:
            return
        if len(data) > LONGEST_LINE:
            msg = f"line {number:,} has over {LONGEST_LINE:,} bytes"
            raise WrittenFileError(msg)
        yield _decoded(data, number)


def _without_mark(data: bytes) -> bytes:
    for beginning, kind in OTHER_FILES.items():
        if data.startswith(beginning):
            msg = f"is {kind}; {SAVE_AS}"
            raise WrittenFileError(msg)
    return data.removeprefix(BYTE_ORDER_MARK)


def _decoded(data: bytes, number: int) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        column = len(data[: error.start].decode("utf-8")) + 1
        found = data[error.start]
        msg = f"is not UTF-8: byte 0x{found:02x} at line {number:,}, column {column:,}; {SAVE_AS}"
        raise WrittenFileError(msg) from error
