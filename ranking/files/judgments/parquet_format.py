"""Parquet files; rows are counted from 1."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotation.tool_files.reading import JudgmentFileError
from ranking.files.judgments.judgments import Places, RawColumns, coded

if TYPE_CHECKING:
    import pyarrow as pa


def read(path: Path, names: tuple[str, ...]) -> RawColumns:
    """Read the wanted columns, as far as the file has them.

    Raises
    ------
    JudgmentFileError
        If the file is no Parquet, or a column holds neither text nor numbers.
    """
    import pyarrow as pa  # noqa: PLC0415 (the site works without it in memory)
    from pyarrow import parquet  # noqa: PLC0415

    try:
        file = parquet.ParquetFile(path)
        present = [name for name in names if name in file.schema_arrow.names]
        table = file.read(columns=present)
    except (pa.ArrowInvalid, OSError) as error:
        msg = f"The file cannot be read as Parquet: {str(error).partition(chr(10))[0]}"
        raise JudgmentFileError(msg) from error
    columns = {name: coded(_encoded(name, table.column(name))) for name in present}
    return RawColumns(columns, table.num_rows)


def places(path: Path, _wanted: tuple[str, ...]) -> Places:
    """Return the numbers of the rows."""
    from pyarrow import parquet  # noqa: PLC0415

    return Places(list(range(1, parquet.ParquetFile(path).metadata.num_rows + 1)), [])


def _encoded(name: str, column: "pa.ChunkedArray[Any]") -> "pa.ChunkedArray[Any]":
    """Return a column as dictionary-encoded text, whatever plain type it was stored in."""
    import pyarrow as pa  # noqa: PLC0415

    try:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        return column.cast(pa.string()).dictionary_encode()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        msg = f"Column {name} holds neither text nor numbers."
        raise JudgmentFileError(msg) from error
