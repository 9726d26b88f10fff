"""The three ways to write the rows of an export, a block at a time."""

import datetime as dt
import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from access.console.csv_cells import csv_lines
from annotation.models import Study
from annotation.studies.queries import study_file_name
from ranking.exports.data_dictionary import ExportColumn, ExportTable, Kind
from ranking.exports.options import ExportFormat, ExportRefusedError
from ranking.released.writing import Pipe

if TYPE_CHECKING:
    import pyarrow as pa

LINES = 500
"""Lines that are handed on at once."""
GROUP = 4_000
"""Rows of a group of Parquet: of more, the rows cost much memory; of fewer, the file's index."""
Columns = Sequence[ExportColumn]
Rows = Iterator[tuple[Any, ...]]


def written(
    table: ExportTable, rows: Rows, form: ExportFormat, *, bom: bool = False
) -> Iterator[bytes]:
    """Yield an export as bytes, block by block.

    Raises
    ------
    ExportRefusedError
        If what the table holds does not fit into columns of that form.
    """
    if table.is_nested and form is not ExportFormat.JSONL:
        msg = f"{table.title} come as JSON lines alone."
        raise ExportRefusedError(msg)
    if form is ExportFormat.CSV:
        return _joined(_csv(table.columns, rows, bom=bom))
    if form is ExportFormat.JSONL:
        return _joined(_jsonl(table.columns, rows))
    return _parquet(table.columns, rows)


def file_name(study: Study, name: str, form: ExportFormat) -> str:
    """Return the name of an export's file, which says by itself if simulated data are in it."""
    return f"{study_file_name(study, name)}.{form}"


def _joined(lines: Iterator[str]) -> Iterator[bytes]:
    """Yield lines in blocks, the first by itself: a download begins before rows are sorted."""
    yield from (line.encode() for line in islice(lines, 1))
    while block := "".join(islice(lines, LINES)):
        yield block.encode()


def _csv(columns: Columns, rows: Rows, *, bom: bool) -> Iterator[str]:
    names = tuple(column.name for column in columns)
    return csv_lines(chain([names], _flat(columns, rows)), bom=bom)


def _jsonl(columns: Columns, rows: Rows) -> Iterator[str]:
    names = [column.name for column in columns]
    for row in rows:
        record = dict(zip(names, row, strict=True))
        yield json.dumps(record, ensure_ascii=False, default=_time, allow_nan=False) + "\n"


def _parquet(columns: Columns, rows: Rows) -> Iterator[bytes]:
    """Yield one row group after the other; what was written is not kept."""
    import pyarrow as pa  # noqa: PLC0415 (the site works without it in memory)
    from pyarrow import parquet  # noqa: PLC0415

    schema = pa.schema([(column.name, _type(column.kind)) for column in columns])
    pipe = Pipe()
    sink = pa.PythonFile(pipe, mode="w")
    # Statistics of each column of each group stay in memory to the end, texts among them.
    with parquet.ParquetWriter(
        sink, schema, compression="snappy", write_statistics=False
    ) as writer:
        for group in _groups(_flat(columns, rows), schema):
            writer.write_batch(group)
            yield pipe.taken()
    yield pipe.taken()


def _groups(rows: Rows, schema: "pa.Schema") -> Iterator["pa.RecordBatch"]:
    """Yield rows as arrays, a row group at a time."""
    import pyarrow as pa  # noqa: PLC0415

    from ranking.exports.arrays import arrow_array  # noqa: PLC0415 (NumPy)

    while some := list(islice(rows, GROUP)):
        columns = zip(*some, strict=True)
        arrays = [arrow_array(one, kind) for one, kind in zip(columns, schema.types, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _type(kind: Kind) -> "pa.DataType":
    import pyarrow as pa  # noqa: PLC0415

    types: dict[Kind, pa.DataType] = {
        Kind.INTEGER: pa.int64(),
        Kind.NUMBER: pa.float64(),
        Kind.BOOLEAN: pa.bool_(),
        Kind.TIME: pa.timestamp("us", tz="UTC"),
    }
    return types.get(kind, pa.string())


def _flat(columns: Columns, rows: Rows) -> Rows:
    """Return the rows with what has parts of its own as JSON."""
    nested = {place for place, column in enumerate(columns) if column.kind is Kind.JSON}
    return (_as_json(row, nested) for row in rows) if nested else rows


def _as_json(row: tuple[Any, ...], nested: set[int]) -> tuple[Any, ...]:
    return tuple(
        json.dumps(cell, ensure_ascii=False) if place in nested and cell is not None else cell
        for place, cell in enumerate(row)
    )


def _time(value: object) -> str:
    if isinstance(value, dt.datetime):
        return value.isoformat()
    msg = f"{value!r} has no form in JSON"
    raise TypeError(msg)
