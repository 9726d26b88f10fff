"""Read a file as what its first bytes say: Parquet, JSON in any layout, or a table (CSV)."""

import csv
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from completions.files.records import FileEntry, records
from completions.files.refusals import InputFileError, shown
from completions.files.text import (
    MOST_UNPACKED,
    PARQUET,
    beginning,
    chunks,
    lines,
    opened,
    too_much,
)

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

BATCH = 1_000
"""Rows of Parquet that are in memory at once."""
WIDTH = 8
"""Bytes that a number takes."""
NOT_SPACE = re.compile(r"\S")


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


def read(source: Path | BinaryIO, columns: Columns | None = None) -> Iterator[FileEntry]:
    """Yield the entries of a file as they are read, whatever its layout.

    Parameters
    ----------
    source
        A path, or a file open for bytes that can be sought in, such as an upload.
    columns
        What the header of a table has to name; without it, it may name anything.

    Raises
    ------
    InputFileError
        If the file as a whole cannot be read, or is an upload that unpacks to more than the
        memory should hold; the message does not name the file.
    """
    with opened(source) as file:
        if beginning(file).startswith(PARQUET):
            yield from _parquet(file, is_sent=not isinstance(source, Path))
            return
        first = _first_sign(file)
        file.seek(0)
        if first in ("[", "{"):
            yield from map(_with_names, records(chunks(file)))
        else:
            yield from table(lines(file), columns or Columns())


def _first_sign(file: BinaryIO) -> str:
    """Return the first character that is no space.

    Raises
    ------
    InputFileError
        If there is none.
    """
    for piece in chunks(file):
        if found := NOT_SPACE.search(piece):
            return found[0]
    msg = "is empty"
    raise InputFileError(msg)


def _with_names(entry: FileEntry) -> FileEntry:
    """Refuse a record with a name that is no text: names are told to people."""
    try:
        "".join(entry.value if isinstance(entry.value, dict) else ()).encode()
    except UnicodeEncodeError:
        fault = "a name in it contains half of a surrogate pair"
        return replace(entry, value=None, fault=fault)
    return entry


def _parquet(file: BinaryIO, *, is_sent: bool) -> Iterator[FileEntry]:
    import pyarrow as pa  # noqa: PLC0415 (takes a second, and few files need it)
    from pyarrow import parquet  # noqa: PLC0415

    try:
        if is_sent:
            _refuse_too_much(_told_sizes(parquet.ParquetFile(file)))
            _refuse_too_much(_found_sizes(file))
        whole = parquet.ParquetFile(file)
        _refuse_doubled(whole.schema_arrow.names)
        batches = whole.iter_batches(batch_size=BATCH)
        rows = itertools.chain.from_iterable(batch.to_pylist() for batch in batches)
        for number, row in enumerate(rows, start=1):
            yield FileEntry(number, row)
    except InputFileError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        msg = "is a Parquet file that is damaged or in a rare encoding; write it again"
        raise InputFileError(msg) from error


def _refuse_too_much(sizes: Iterable[int]) -> None:
    if any(total > MOST_UNPACKED for total in itertools.accumulate(sizes)):
        raise too_much()


def _told_sizes(file: "ParquetFile") -> Iterator[int]:
    """Yield the bytes of each column of each group of rows, as the footer tells them.

    A value takes eight bytes or its fixed width, whatever way it is packed.
    """
    for group in map(file.metadata.row_group, range(file.num_row_groups)):
        for number in range(group.num_columns):
            column, width = group.column(number), file.schema.column(number).length or 0
            yield max(column.total_uncompressed_size, column.num_values * max(WIDTH, width))


def _found_sizes(file: BinaryIO) -> Iterator[int]:
    """Yield the bytes of the values, before they are unpacked: many rows may share one text.

    Arrow raises OSError for the encodings that have to be unpacked to be counted.
    """
    from pyarrow import parquet  # noqa: PLC0415

    schema = parquet.ParquetFile(file).schema
    columns = [schema.column(number) for number in range(len(schema))]
    texts = [one.path for one in columns if one.physical_type == "BYTE_ARRAY"]
    shared = parquet.ParquetFile(file, read_dictionary=texts)
    for group in range(shared.num_row_groups):  # Arrow cannot join the texts of two groups
        for batch in shared.iter_batches(batch_size=BATCH, row_groups=[group]):
            yield from map(_size, batch.columns)


def _size(values: Any) -> int:  # noqa: ANN401 (Arrow has a class for each kind of column)
    """Return how many bytes the values of a column take when each stands on its own."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import compute  # noqa: PLC0415

    if isinstance(values, pa.DictionaryArray):
        texts: Any = values.dictionary
        lengths = compute.binary_length(texts)
        return int(compute.sum(lengths.take(values.indices)).as_py() or 0)
    if isinstance(values, pa.MapArray):
        return _size(values.keys) + _size(values.items)
    if isinstance(values, pa.StructArray):
        return sum(map(_size, values.flatten()))
    if pa.types.is_nested(values.type):
        return _size(values.flatten())
    return int(values.nbytes)


SEPARATORS = (",", ";", "\t", "|")
"""What spreadsheets write, by the country they are set to."""
SEP_LINE = re.compile(r"sep=([,;\t|])", re.IGNORECASE)
BETWEEN = re.compile(r"[\s_-]+")
_SAID = {
    "unexpected end of data": "a quotation mark opens here and is never closed",
    "field larger": "a quotation mark opens here and is not closed for very long",
    "expected after": 'a quotation mark inside of a cell has to be doubled: ""',
}


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


@lru_cache(maxsize=128)  # each row of JSON has its names again
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
    _refuse_doubled([named(name) for name in names if name], f"line {at} ")
    return separator, names


def doubled(names: Sequence[str]) -> list[str]:
    """Return the names that stand more than once, sorted, so that any terminal shows them."""
    return [shown(name) for name, n in sorted(Counter(names).items()) if n > 1]


def _refuse_doubled(names: Sequence[str], where: str = "") -> None:
    if twice := doubled(names):
        msg = f"{where}names a column twice: {', '.join(twice)}"
        raise InputFileError(msg)


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
