"""Read the files that people bring in, row by row: pure, and the same under every import.

``docs/files.md`` describes them. Everything a caller may import is named here.
"""

from completions.files.reading import Columns, named, read
from completions.files.records import FileEntry
from completions.files.refusals import (
    REMEDIES,
    InputFileError,
    Reason,
    Refusals,
    Refused,
    alike,
    bad_fields,
    printable,
    refused,
)
from completions.files.rows import BATCH, MOST_ROWS, OutcomeChangedError, RowFile, batches, once
from completions.files.text import text_lines

__all__ = [
    "BATCH",
    "MOST_ROWS",
    "REMEDIES",
    "Columns",
    "FileEntry",
    "InputFileError",
    "OutcomeChangedError",
    "Reason",
    "Refusals",
    "Refused",
    "RowFile",
    "alike",
    "bad_fields",
    "batches",
    "named",
    "once",
    "printable",
    "read",
    "refused",
    "text_lines",
]
