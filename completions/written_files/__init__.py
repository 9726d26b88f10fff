"""Read messages that people wrote elsewhere, row by row: pure.

``docs/writers.md`` describes the files. Everything a caller may import is named here.
"""

from completions.written_files.errors import (
    REMEDIES,
    Reason,
    RefusedRow,
    refused,
)
from completions.written_files.reading import MOST_ROWS, WrittenFile, entries
from completions.written_files.rows import COLUMNS, REQUIRED, Message, Moment, WrittenRow

__all__ = [
    "COLUMNS",
    "MOST_ROWS",
    "REMEDIES",
    "REQUIRED",
    "Message",
    "Moment",
    "Reason",
    "RefusedRow",
    "WrittenFile",
    "WrittenRow",
    "entries",
    "refused",
]
