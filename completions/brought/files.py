"""Completions in a file of any layout that `input_files` reads."""

from collections.abc import Iterator
from typing import BinaryIO

from completions.brought.errors import Reason, Refused, refused
from completions.brought.rows import COLUMNS, REQUIRED, BroughtRow, checked
from completions.input_files import Columns, Entry
from completions.written_files import entries


class BroughtFile:
    """The rows of a file of completions, and the columns in it that nobody reads."""

    def __init__(self, file: BinaryIO, *, most_rows: int) -> None:
        self.unknown: dict[str, None] = {}
        self._file = file
        self._most_rows = most_rows

    def __iter__(self) -> Iterator[BroughtRow | Refused]:
        """Yield every row that can be used, and a word about each field that cannot.

        Raises
        ------
        completions.input_files.InputFileError
            If the file as a whole cannot be read: no text, no columns, quotation marks that do
            not match, a line or the file too long, or not one row.
        """
        columns = Columns(COLUMNS, REQUIRED)
        for entry in entries(self._file, columns, most_rows=self._most_rows, what="completions"):
            found = self._row(entry)
            yield from (found,) if isinstance(found, BroughtRow) else found

    def _row(self, entry: Entry) -> BroughtRow | tuple[Refused, ...]:
        line = entry.line or entry.number
        if entry.fault:
            return (refused(line, "", Reason.UNREADABLE, entry.fault),)
        if not isinstance(entry.value, dict):
            return checked(entry.value, line)
        self.unknown.update(dict.fromkeys(sorted(entry.value.keys() - set(COLUMNS))))
        return checked({name: entry.value[name] for name in COLUMNS if name in entry.value}, line)
