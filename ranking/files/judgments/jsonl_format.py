"""One JSON object a line, in UTF-8."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from annotation.tool_files.reading import JudgmentFileError, RowFault
from ranking.files.judgments.judgments import COUNTS, Coded, Places, RawColumns, coded, tidy

BLOCK_BYTES = 4 * 2**20  # also the longest line that can be read at once


class _LineError(ValueError):
    """A line is no object with plain values."""


def read(path: Path, names: tuple[str, ...]) -> RawColumns:
    """Read the wanted columns, as far as any line has them.

    Raises
    ------
    JudgmentFileError
        If the file is empty.
    """
    if not path.stat().st_size:
        msg = "The file is empty."
        raise JudgmentFileError(msg)
    import pyarrow as pa  # noqa: PLC0415 (the site works without it in memory)

    try:
        return _read_at_once(path, names)
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return _read_by_line(path, names)  # lines that differ in kind, or are broken


def places(path: Path, names: tuple[str, ...]) -> Places:
    """Find the line of each row, and what is wrong with lines that are none."""
    lines: list[int] = []
    unreadable: list[RowFault] = []
    for number, line in _lines(path):
        try:
            _values(line, names)
        except _LineError as error:
            unreadable.append(RowFault(number, str(error)))
        else:
            lines.append(number)
    return Places(lines, unreadable)


def _read_at_once(path: Path, names: tuple[str, ...]) -> RawColumns:
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import json as arrow_json  # noqa: PLC0415

    table = arrow_json.read_json(
        path,
        read_options=arrow_json.ReadOptions(block_size=BLOCK_BYTES),
        parse_options=arrow_json.ParseOptions(
            explicit_schema=pa.schema([(name, _kind(path, name)) for name in names]),
            unexpected_field_behavior="ignore",
        ),
    )
    table.validate(full=True)  # the reader does not look at the encoding
    columns = {
        name: coded(table.column(name).cast(pa.string()).dictionary_encode())
        for name in names
        if table.column(name).null_count < table.num_rows
    }
    return RawColumns(columns, table.num_rows)


def _kind(path: Path, name: str) -> Any:  # noqa: ANN401 (PyArrow's types have no common name)
    """Return the type of a column as the first line has it."""
    import pyarrow as pa  # noqa: PLC0415

    try:
        value = next(json.loads(line)[name] for _, line in _lines(path))
    except (StopIteration, ValueError, RecursionError, LookupError, TypeError):
        return pa.string()
    if name == "strength" and value is None:
        return pa.float64()
    if name == COUNTS and isinstance(value, bool):
        return pa.bool_()
    return {int: pa.int64(), float: pa.float64()}.get(type(value), pa.string())


def _read_by_line(path: Path, names: tuple[str, ...]) -> RawColumns:
    rows: list[tuple[str | None, ...]] = []
    n_unreadable = 0
    for _, line in _lines(path):
        try:
            rows.append(_values(line, names))
        except _LineError:
            n_unreadable += 1
    columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {}
    found = {name: column for name, column in columns.items() if any(column)}
    coded_columns = {name: _coded(column) for name, column in found.items()}
    return RawColumns(coded_columns, len(rows), n_unreadable)


def _coded(column: tuple[str | None, ...]) -> Coded:
    place: dict[str, int] = {}
    codes = [place.setdefault(value or "", len(place)) for value in column]
    return tidy(place, np.array(codes, dtype=np.int64))


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield lines that are not blank, with their numbers."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, line


def _values(line: bytes, names: tuple[str, ...]) -> tuple[str | None, ...]:
    try:
        record = json.loads(line.decode("utf-8"), object_pairs_hook=_once)
    except UnicodeDecodeError:
        msg = "not UTF-8; save the file in that encoding"
        raise _LineError(msg) from None
    except json.JSONDecodeError as error:
        msg = f"not JSON: {error.msg} at column {error.colno}"
        raise _LineError(msg) from None
    except RecursionError:
        msg = "nested too deep"
        raise _LineError(msg) from None
    if not isinstance(record, dict):
        msg = "not a JSON object"
        raise _LineError(msg)
    return tuple(_text(name, record.get(name)) for name in names)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        msg = "says a name twice"
        raise _LineError(msg)
    return record


def _text(name: str, value: object) -> str | None:
    """Return a value as text; a whole number has no decimals, what is not there is None."""
    match value:
        case None | str():
            return value
        case bool() if name == COUNTS:
            return str(value)
        case bool() | list() | dict():
            msg = f"{name} is neither text nor a number"
            raise _LineError(msg)
        case float() if math.isnan(value):
            return None
        case float() if value.is_integer():
            return str(int(value))
    return str(value)
