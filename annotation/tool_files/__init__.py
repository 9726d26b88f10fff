"""Judgments in files that any tool wrote: their layouts, and going through them; pure.

``docs/files.md`` describes them. Everything a caller may import is named here.
"""

from annotation.tool_files.layouts import LAYOUTS, OF_TEXTS, side, spelled
from annotation.tool_files.reading import (
    SHOWN,
    JudgmentFileError,
    RowFault,
    ToolFile,
    bad_rows,
    columns_named,
    read_tool_file,
)

__all__ = [
    "LAYOUTS",
    "OF_TEXTS",
    "SHOWN",
    "JudgmentFileError",
    "RowFault",
    "ToolFile",
    "bad_rows",
    "columns_named",
    "read_tool_file",
    "side",
    "spelled",
]
