"""Read a file as what its first bytes say: Parquet, JSON in any layout, or a table."""

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from completions.files.records import FileEntry, records
from completions.files.refusals import InputFileError
from completions.files.tables import Columns, table
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
        batches = parquet.ParquetFile(file).iter_batches(batch_size=BATCH)
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
