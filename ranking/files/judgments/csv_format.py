"""Comma-separated values in UTF-8, the first line naming the columns."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from annotation.tool_files.reading import JudgmentFileError, RowFault, bad_rows
from ranking.files.judgments.judgments import Places, RawColumns, coded

if TYPE_CHECKING:
    from pyarrow import csv as arrow_csv

BLOCK_BYTES = 4 * 2**20  # also the longest row that can be read
LONGEST_FIELD = 2**31 - 1


def read(path: Path, names: tuple[str, ...]) -> RawColumns:
    """Read the wanted columns, as far as the header names them.

    Raises
    ------
    JudgmentFileError
        If the file is empty, is not UTF-8, names a wanted column twice, or is no CSV.
    """
    import pyarrow as pa  # noqa: PLC0415 (the site works without it in memory)
    from pyarrow import csv as arrow_csv  # noqa: PLC0415

    header = _header(path)
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
            parse_options=_parsing(unreadable, has_quotes=n_quotes > 0),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=present,
                column_types=dict.fromkeys(present, text),
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        raise _refusal(path, error) from error
    columns = {name: coded(table.column(name)) for name in present}
    return RawColumns(columns, table.num_rows, len(unreadable))


def places(path: Path, _wanted: tuple[str, ...]) -> Places:
    """Find the line of each row, and the rows whose number of fields is not the header's."""
    lines: list[int] = []
    unreadable: list[RowFault] = []
    n_fields = len(_header(path))
    for line, fields in _records(path):
        if len(fields) == n_fields:
            lines.append(line)
        elif fields:  # an empty line is no row
            reason = f"{len(fields)} fields, but the header has {n_fields}"
            unreadable.append(RowFault(line, reason))
    return Places(lines, unreadable)


def _parsing(
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


def _header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            header = next((fields for fields in csv.reader(stream) if fields), [])
    except UnicodeDecodeError:
        raise _not_utf_8(path) from None
    if not header:
        msg = "The file is empty."
        raise JudgmentFileError(msg)
    if doubled := sorted({name for name in header if header.count(name) > 1}):
        msg = f"The header names a column twice: {', '.join(doubled)}."
        raise JudgmentFileError(msg)
    return header


def _records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield each record after the header, with the line on which it begins."""
    with _long_fields(), path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        reader = csv.reader(stream)
        next((fields for fields in reader if fields), None)
        last = reader.line_num
        for fields in reader:
            yield last + 1, fields
            last = reader.line_num


def _refusal(path: Path, error: Exception) -> JudgmentFileError:
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
