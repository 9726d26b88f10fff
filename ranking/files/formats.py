"""The kinds of files: comma-separated values, one JSON object a line (both UTF-8), Parquet."""

import csv
import json
import math
import mmap
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from annotation.tool_files.reading import JudgmentFileError, RowFault, bad_rows
from completions.files.reading import doubled
from ranking.files.judgments import COUNTS, NAMES, Places, RawColumns, coded, coded_texts

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv


BLOCK_BYTES = 4 * 2**20  # also the longest row that can be read at once
LONGEST_FIELD = 2**31 - 1
EXACT = 2.0**53
"""From here on fractions leave out whole numbers."""
BOM = b"\xef\xbb\xbf"
NO_OBJECT = re.compile(rb"\}\s*[^\s{,}\]]")  # what follows an object, and is neither one nor a sign


def read_csv(path: Path, names: tuple[str, ...]) -> RawColumns:
    """Read the wanted columns, as far as the header names them.

    Raises
    ------
    JudgmentFileError
        If the file is empty, is not UTF-8, names a wanted column twice, or is no CSV.
    """
    import pyarrow as pa  # noqa: PLC0415 (the site works without it in memory)
    from pyarrow import csv as arrow_csv  # noqa: PLC0415

    header = _csv_header(path)
    n_quotes = _count_quotes(path)
    if n_quotes % 2:
        _refuse_open_quote(path)
    present = [name for name in names if name in header]
    unreadable: list[arrow_csv.InvalidRow] = []
    text = pa.dictionary(pa.int32(), pa.string())
    try:
        table = arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(block_size=BLOCK_BYTES),
            parse_options=_csv_parsing(unreadable, has_quotes=n_quotes > 0),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=present,
                column_types=dict.fromkeys(present, text),
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        raise _csv_refusal(path, error) from error
    columns = {name: coded(table.column(name)) for name in present}
    return RawColumns(columns, table.num_rows, len(unreadable))


def places_of_csv(path: Path, _wanted: tuple[str, ...]) -> Places:
    """Find the line of each row, and the rows whose number of fields is not the header's."""
    lines: list[int] = []
    unreadable: list[RowFault] = []
    n_fields = len(_csv_header(path))
    for line, fields in _csv_records(path):
        if len(fields) == n_fields:
            lines.append(line)
        elif fields:  # an empty line is no row
            reason = f"{len(fields)} fields, but the header has {n_fields}"
            unreadable.append(RowFault(line, reason))
    return Places(lines, unreadable)


def _csv_parsing(
    unreadable: "list[arrow_csv.InvalidRow]", *, has_quotes: bool
) -> "arrow_csv.ParseOptions":
    """Return how to parse the file; rows of another length are put aside."""
    from pyarrow import csv as arrow_csv  # noqa: PLC0415

    def put_aside(row: "arrow_csv.InvalidRow") -> Literal["skip"]:
        unreadable.append(row)
        return "skip"

    # Without quotes no text can hold a line break, and blocks are cut faster.
    return arrow_csv.ParseOptions(newlines_in_values=has_quotes, invalid_row_handler=put_aside)


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let a field be of any length meanwhile; the limit is one for the whole process."""
    usual = csv.field_size_limit(LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(usual)


def _count_quotes(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(block.count(b'"') for block in iter(lambda: stream.read(BLOCK_BYTES), b""))


def _refuse_open_quote(path: Path) -> None:
    """Refuse a file that ends inside a quote: PyArrow would take the rest for one text."""
    begun = 1
    with _long_fields(), path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        reader = csv.reader(stream, strict=True)
        try:
            for _ in reader:
                begun = reader.line_num + 1
        except csv.Error as error:
            if "end of data" in str(error):
                reason = "a quote is opened and never closed"
                raise bad_rows([RowFault(begun, reason)], total=1) from None


def _csv_header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            header = next((fields for fields in csv.reader(stream) if fields), [])
    except UnicodeDecodeError:
        raise _not_utf_8(path) from None
    if not header:
        msg = "The file is empty."
        raise JudgmentFileError(msg)
    _refuse_doubled(header)
    return header


def _refuse_doubled(names: list[str]) -> None:
    if twice := doubled(names):
        msg = f"The header names a column twice: {', '.join(twice)}."
        raise JudgmentFileError(msg)


def _csv_records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield each record after the header, with the line on which it begins."""
    with _long_fields(), path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        reader = csv.reader(stream)
        next((fields for fields in reader if fields), None)
        last = reader.line_num
        for fields in reader:
            yield last + 1, fields
            last = reader.line_num


def _csv_refusal(path: Path, error: Exception) -> JudgmentFileError:
    if "UTF8" in str(error):
        return _not_utf_8(path)
    return JudgmentFileError(f"The file cannot be read as CSV: {str(error).partition(chr(10))[0]}.")


def _not_utf_8(path: Path) -> JudgmentFileError:
    """Return the refusal that names the lines which are not UTF-8."""
    faults = []
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                faults.append(RowFault(number, "not UTF-8; save the file in that encoding"))
    return bad_rows(faults, total=len(faults))


class LineError(Exception):
    """A line is no object with plain values."""


def read_jsonl(path: Path, names: tuple[str, ...]) -> RawColumns:
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
        return (_read_at_once if _has_objects_alone(path) else _read_by_line)(path, names)
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return _read_by_line(path, names)  # lines that differ in kind, or are broken


def places_of_jsonl(path: Path, names: tuple[str, ...]) -> Places:
    """Find the line of each row, and what is wrong with lines that are none."""
    lines: list[int] = []
    unreadable: list[RowFault] = []
    for number, line in _jsonl_lines(path):
        try:
            _jsonl_values(line, names)
        except LineError as error:
            unreadable.append(RowFault(number, str(error)))
        else:
            lines.append(number)
    return Places(lines, unreadable)


def _has_objects_alone(path: Path) -> bool:
    """Say that no row is another value: where a block begins with null, PyArrow ends the process.

    Of a text that looks like one it says no as well.
    """
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ) as text:
        first = next(_jsonl_lines(path), (0, b""))[1].lstrip()
        return first.startswith(b"{") and not NO_OBJECT.search(text)


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
    for column in table.columns:
        if pa.types.is_floating(column.type):
            _refuse_above(EXACT, column)  # it may be a whole number, rounded
    columns = {
        name: coded(table.column(name).cast(pa.string()).dictionary_encode())
        for name in names
        if table.column(name).null_count < table.num_rows
    }
    return RawColumns(columns, table.num_rows)


def _refuse_above(limit: float, column: "pa.ChunkedArray[Any]") -> None:
    """Raise ArrowInvalid where a number is not below the limit, with either sign."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import compute  # noqa: PLC0415

    if not compute.all(compute.less(compute.abs(column), pa.scalar(limit)), min_count=0).as_py():
        raise pa.ArrowInvalid


def _kind(path: Path, name: str) -> Any:  # noqa: ANN401 (PyArrow's types have no common name)
    """Return the type of a column as the first line has it."""
    import pyarrow as pa  # noqa: PLC0415

    try:
        value = next(json.loads(line)[name] for _, line in _jsonl_lines(path))
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
    for _, line in _jsonl_lines(path):
        try:
            rows.append(_jsonl_values(line, names))
        except LineError:
            n_unreadable += 1
    columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {}
    found = {name: column for name, column in columns.items() if any(column)}
    coded_columns = {
        name: coded_texts(value or "" for value in column) for name, column in found.items()
    }
    return RawColumns(coded_columns, len(rows), n_unreadable)


def _jsonl_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield lines that are not blank, with their numbers."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if (text := line.removeprefix(BOM) if number == 1 else line).strip():
                yield number, text


def _jsonl_values(line: bytes, names: tuple[str, ...]) -> tuple[str | None, ...]:
    record = _record(line)
    values = tuple(text_of(name, record.get(name)) for name in names)
    try:
        "".join(filter(None, values)).encode()
    except UnicodeEncodeError:
        msg = "contains half of a surrogate pair"
        raise LineError(msg) from None
    return values


def _record(line: bytes) -> dict[str, Any]:
    try:
        record: Any = json.loads(line.decode("utf-8"), object_pairs_hook=_once)
    except UnicodeDecodeError:
        msg = "not UTF-8; save the file in that encoding"
        raise LineError(msg) from None
    except json.JSONDecodeError as error:
        msg = f"not JSON: {error.msg} at column {error.colno}"
        raise LineError(msg) from None
    except RecursionError:
        msg = "nested too deep"
        raise LineError(msg) from None
    except ValueError:
        msg = "a number in it has too many digits"
        raise LineError(msg) from None
    if not isinstance(record, dict):
        msg = "not a JSON object"
        raise LineError(msg)
    return record


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        msg = "says a name twice"
        raise LineError(msg)
    return record


def text_of(name: str, value: object) -> str | None:
    """Return a value as text; a whole number has no decimals, what is not there is None."""
    match value:
        case None | str():
            return value
        case bool() if name not in NAMES:
            return str(value)
        case bool() | list() | dict():
            msg = f"{name} is neither text nor a number"
            raise LineError(msg)
        case float() if math.isnan(value):
            return None
        case float() if math.isinf(value):
            msg = f"{name} is a number without end"
            raise LineError(msg)
        case float() if value.is_integer():
            return str(int(value))
    return str(value)


def read_parquet(path: Path, names: tuple[str, ...]) -> RawColumns:
    """Read the wanted columns, as far as the file has them.

    Raises
    ------
    JudgmentFileError
        If the file is no Parquet, names a column twice, or a column holds neither text nor numbers.
    """
    import pyarrow as pa  # noqa: PLC0415 (the site works without it in memory)
    from pyarrow import parquet  # noqa: PLC0415

    try:
        file = parquet.ParquetFile(path)
        _refuse_doubled(file.schema_arrow.names)
        present = [name for name in names if name in file.schema_arrow.names]
        table = file.read(columns=present)
    except (pa.ArrowInvalid, OSError) as error:
        msg = f"The file cannot be read as Parquet: {str(error).partition(chr(10))[0]}"
        raise JudgmentFileError(msg) from error
    columns = {name: coded(_parquet_encoded(name, table.column(name))) for name in present}
    return RawColumns(columns, table.num_rows)


def places_of_parquet(path: Path, _wanted: tuple[str, ...]) -> Places:
    """Return the numbers of the rows."""
    from pyarrow import parquet  # noqa: PLC0415

    return Places(list(range(1, parquet.ParquetFile(path).metadata.num_rows + 1)), [])


def _parquet_encoded(name: str, column: "pa.ChunkedArray[Any]") -> "pa.ChunkedArray[Any]":
    """Return a column as dictionary-encoded text, whatever plain type it was stored in."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import compute  # noqa: PLC0415

    try:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_floating(column.type):
            column = compute.if_else(compute.is_nan(column), None, column)
            _refuse_above(math.inf, column)
        return column.cast(pa.string()).dictionary_encode()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        msg = f"Column {name} holds neither text nor numbers."
        raise JudgmentFileError(msg) from error
