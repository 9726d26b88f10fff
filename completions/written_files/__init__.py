"""Read messages that people wrote elsewhere, from CSV or JSON lines: pure, row by row.

``docs/writers.md`` describes the files. Everything a caller may import is named here.
"""

from completions.written_files.errors import (
    REMEDIES,
    Reason,
    RefusedRow,
    WrittenFileError,
    refused,
)
from completions.written_files.reading import MOST_ROWS, WrittenFile, entries
from completions.written_files.rows import COLUMNS, REQUIRED, Message, Moment, WrittenRow
from completions.written_files.tables import Columns

__all__ = [
    "COLUMNS",
    "MOST_ROWS",
    "REMEDIES",
    "REQUIRED",
    "Columns",
    "Message",
    "Moment",
    "Reason",
    "RefusedRow",
    "WrittenFile",
    "WrittenFileError",
    "WrittenRow",
    "entries",
    "refused",
]
