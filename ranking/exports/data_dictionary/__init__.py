"""What every column of every export means: the one source of it (docs/exports.md, ADR-0060)."""

from ranking.exports.data_dictionary.columns import (
    STUDY_COLUMNS,
    ExportColumn,
    ExportTable,
    Kind,
    as_json,
    as_markdown,
    as_rows,
    as_text,
)
from ranking.exports.data_dictionary.tables import (
    BLINDED,
    COMPARISONS,
    COMPLETIONS,
    CONTEXTS,
    EXTERNAL,
    JUDGMENTS,
    PREFERENCES,
    RATERS,
    WHY_NOT,
)

TABLES = (JUDGMENTS, COMPARISONS, COMPLETIONS, CONTEXTS, RATERS, EXTERNAL, PREFERENCES)

__all__ = [
    "BLINDED",
    "COMPARISONS",
    "COMPLETIONS",
    "CONTEXTS",
    "EXTERNAL",
    "JUDGMENTS",
    "PREFERENCES",
    "RATERS",
    "STUDY_COLUMNS",
    "TABLES",
    "WHY_NOT",
    "ExportColumn",
    "ExportTable",
    "Kind",
    "as_json",
    "as_markdown",
    "as_rows",
    "as_text",
]
