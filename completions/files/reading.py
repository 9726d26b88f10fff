"""Read a file as what its first bytes say: Parquet, JSON in any layout, or a table."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from completions.files.records import FileEntry, records
from completions.files.refusals import InputFileError
from completions.files.tables import Columns, table
from completions.files.text import PARQUET, beginning, chunks, lines, opened

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
        If the file as a whole cannot be read; the message does not name the file.
    """
    with opened(source) as file:
        if beginning(file).startswith(PARQUET):
            yield from _parquet(file)
            return
        first = _first_sign(file)
        file.seek(0)
        if first in ("[", "{"):
            yield from records(chunks(file))
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


def _parquet(file: BinaryIO) -> Iterator[FileEntry]:
    import pyarrow as pa  # noqa: PLC0415 (takes a second, and few files need it)
    from pyarrow import parquet  # noqa: PLC0415

    try:
        batches = parquet.ParquetFile(file).iter_batches(batch_size=1_000)
        rows = itertools.chain.from_iterable(batch.to_pylist() for batch in batches)
        for number, row in enumerate(rows, start=1):
            yield FileEntry(number, row)
    except pa.ArrowException as error:
        msg = "is a Parquet file that is damaged; write it again"
        raise InputFileError(msg) from error
