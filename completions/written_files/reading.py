"""Go through a file once: its lines, the rows in them, and what stands twice."""

import hashlib
from collections.abc import Iterator
from typing import BinaryIO

from completions.input_files import Columns, Entry, InputFileError, read
from completions.written_files.errors import Reason, RefusedRow, refused
from completions.written_files.rows import COLUMNS, REQUIRED, WrittenRow, checked

MOST_ROWS = 50_000


def entries(file: BinaryIO, columns: Columns, *, most_rows: int, what: str) -> Iterator[Entry]:
    """Yield what stands in the rows of a file, whatever they are rows of.

    Raises
    ------
    InputFileError
        If the file as a whole cannot be read, or has no rows; ``what`` says what it lacks then.
    """
    n_rows = 0
    for n_rows, entry in enumerate(read(file, columns), start=1):
        if n_rows > most_rows:
            msg = f"has over {most_rows:,} rows; split it into several files"
            raise InputFileError(msg)
        yield entry
    if not n_rows:
        msg = f"has no {what}"
        raise InputFileError(msg)


class WrittenFile:
    """The rows of a file of messages, and the columns in it that nobody reads."""

    def __init__(self, file: BinaryIO, *, most_rows: int = MOST_ROWS) -> None:
        self.unknown: dict[str, None] = {}
        self.authors: dict[str, None] = {}
        self._file = file
        self._most_rows = most_rows

    def __iter__(self) -> Iterator[WrittenRow | RefusedRow]:
        """Yield every row that can be used, and a word about each that cannot.

        Raises
        ------
        InputFileError
            If the file as a whole cannot be read: no text, no columns, quotation marks that do
            not match, a line or the file too long, or not one row.
        """
        seen = _Seen()
        columns = Columns(COLUMNS, REQUIRED)
        for entry in entries(self._file, columns, most_rows=self._most_rows, what="messages"):
            row = self._row(entry)
            if isinstance(row, WrittenRow):
                self.authors[row.author] = None
            yield seen.once(row)

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
