"""Read the files that people bring in, row by row: pure, and the same under every import.

``docs/files.md`` describes them. Everything a caller may import is named here.
"""

from completions.input_files.errors import SAVE_AS, InputFileError
from completions.input_files.names import alike
from completions.input_files.reading import read
from completions.input_files.records import DECODER, Entry
from completions.input_files.tables import Columns, named

__all__ = ["DECODER", "SAVE_AS", "Columns", "Entry", "InputFileError", "alike", "named", "read"]
