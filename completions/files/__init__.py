"""Read the files that people bring in, row by row: pure, and the same under every import.

``docs/files.md`` describes them. Everything a caller may import is named here.
"""

from completions.files.errors import InputFileError
from completions.files.names import alike
from completions.files.reading import read
from completions.files.records import Entry
from completions.files.refusals import (
    REMEDIES,
    Reason,
    Refusals,
    Refused,
    bad_fields,
    printable,
    refused,
)
from completions.files.rows import MOST_ROWS, RowFile, once
from completions.files.storing import BATCH, OutcomeChangedError, batches
from completions.files.tables import Columns, named
from completions.files.text import text_lines

__all__ = [
    "BATCH",
    "MOST_ROWS",
    "REMEDIES",
    "Columns",
    "Entry",
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
