"""Files with a text in each row: what can be used, and what every import needs to store it."""

import hashlib
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, Generic, Protocol, TypeVar

from completions.files.reading import Columns, read
from completions.files.records import FileEntry
from completions.files.refusals import InputFileError, Reason, Refused, alike, one_spelling, refused

MOST_ROWS = 50_000
MOST_TOLD = 20
"""Groups of rows with one text that are listed; the others are counted."""


class TextRow(Protocol):
    """A text for a context, and where it stands: a line of a file, an index in a list."""

    @property
    def position(self) -> int: ...  # noqa: D102

    @property
    def context(self) -> str: ...  # noqa: D102

    @property
    def text(self) -> str: ...  # noqa: D102

    @property
    def source_name(self) -> str:
        """Whose text it is: an author, a system."""


Row = TypeVar("Row", bound=TextRow)


class RowFile(Generic[Row]):
    """The rows of a file, and what is worth a look before they are stored.

    Parameters
    ----------
    file
        Open for bytes.
    columns
        What a row has; others are not read.
    check
        Returns the row, or all that is wrong with it.
    what
        What the rows are, for the message about a file without any.
    most_rows
        How many are taken.
    """

    def __init__(
        self,
        file: BinaryIO,
        columns: Columns,
        check: Callable[[object, int], Row | tuple[Refused, ...]],
        *,
        what: str,
        most_rows: int = MOST_ROWS,
    ) -> None:
        self._file, self._columns, self._check = file, columns, check
        self._what, self._most_rows = what, most_rows
        self._unknown: dict[str, None] = {}
        self._names: dict[str, None] = {}
        self._lines_of = defaultdict[bytes, list[int]](list)

    def __iter__(self) -> Iterator[Row | Refused]:
        """Yield every row that can be used, and a word about each field that cannot.

        Raises
        ------
        InputFileError
            If the file as a whole cannot be read: no text, no columns, quotation marks that do
            not match, a line or the file too long, or not one row.
        """
        n_rows = 0
        for n_rows, entry in enumerate(read(self._file, self._columns), start=1):
            if n_rows > self._most_rows:
                msg = f"has over {self._most_rows:,} rows; split it into several files"
                raise InputFileError(msg)
            yield from self._row(entry)
        if not n_rows:
            msg = f"has no {self._what}"
            raise InputFileError(msg)

    @property
    def notes(self) -> list[str]:
        """What to look at, once the rows have been read: a sentence each."""
        groups = [lines for lines in self._lines_of.values() if len(lines) > 1]
        told = [f"Columns that are not read: {', '.join(self._unknown)}."] if self._unknown else []
        told += [
            f"These names look alike and count as different: {', '.join(names)}."
            for names in alike(self._names)
        ]
        told += [f"One text stands on the lines {_listed(one)}." for one in groups[:MOST_TOLD]]
        if len(groups) > MOST_TOLD:
            told.append(f"And {len(groups) - MOST_TOLD:,} more texts stand on several lines.")
        return told

    def _row(self, entry: FileEntry) -> Iterable[Row | Refused]:
        line = entry.line or entry.number
        if entry.fault:
            return (refused(line, "", Reason.UNREADABLE, entry.fault),)
        value = entry.value
        if isinstance(value, dict):
            known = self._columns.known
            self._unknown.update(dict.fromkeys(sorted(value.keys() - set(known))))
            value = {name: value[name] for name in known if name in value}
        found = self._check(value, line)
        if isinstance(found, tuple):
            return found
        self._names[found.source_name] = None
        self._lines_of[_digest(found.text)].append(line)
        return (found,)


def once(rows: Iterable[Row | Refused]) -> Iterator[Row | Refused]:
    """Pass rows on, but one per context and author or system."""
    first = dict[tuple[str, str], tuple[int, bytes]]()
    for row in rows:
        if isinstance(row, Refused):
            yield row
            continue
        here = (row.position, _digest(row.text))
        at, text = first.setdefault((row.context, row.source_name), here)
        if at == row.position:
            yield row
        elif text == here[1]:
            yield refused(row.position, "", Reason.REPEATED, f"stands at {at:,} already")
        else:
            why = f"another text of its author or system for this context stands at {at:,}"
            yield refused(row.position, "", Reason.SECOND_TEXT, why)


def _digest(text: str) -> bytes:
    return hashlib.sha256(one_spelling(text).encode()).digest()[:16]


def _listed(lines: list[int]) -> str:
    shown = [f"{line:,}" for line in itertools.islice(lines, MOST_TOLD)]
    return ", ".join(shown) + (", ..." if len(lines) > MOST_TOLD else "")


BATCH = 500
"""Rows per query: fewer than the variables that any database takes."""

Item = TypeVar("Item")


class OutcomeChangedError(Exception):
    """The import would end otherwise than it was shown; nothing is stored."""


def batches(items: Iterable[Item], size: int = BATCH) -> Iterator[list[Item]]:
    """Yield so many items at once as one query takes."""
    items = iter(items)
    while batch := list(itertools.islice(items, size)):
        yield batch
