"""Read the files that people bring in, row by row: pure, and the same under every import.

``docs/files.md`` describes them. Everything a caller may import is named here.
"""

from completions.input_files.errors import InputFileError
from completions.input_files.names import alike
from completions.input_files.reading import read
from completions.input_files.records import Entry
from completions.input_files.refusals import (
    REMEDIES,
    Reason,
    Refused,
    bad_fields,
    printable,
    refused,
)
from completions.input_files.rows import MOST_ROWS, RowFile, once
from completions.input_files.tables import Columns, named
from completions.input_files.text import text_lines

__all__ = [
    "MOST_ROWS",
    "REMEDIES",
    "Columns",
    "Entry",
    "InputFileError",
    "Reason",
    "Refused",
    "RowFile",
    "alike",
    "bad_fields",
    "named",
    "once",
    "printable",
    "read",
    "refused",
    "text_lines",
]
