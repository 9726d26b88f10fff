"""What every column of every export means: the one source of it (docs/exports.md, ADR-0060)."""

from ranking.exports.data_dictionary.columns import STUDY_COLUMNS, Column, Kind, Table
from ranking.exports.data_dictionary.evaluators import RATERS
from ranking.exports.data_dictionary.external import EXTERNAL
from ranking.exports.data_dictionary.judgments import BLINDED, JUDGMENTS, WHY_NOT
from ranking.exports.data_dictionary.pairs import PREFERENCES
from ranking.exports.data_dictionary.rendering import as_json, as_markdown, as_rows, as_text
from ranking.exports.data_dictionary.texts import COMPARISONS, COMPLETIONS, CONTEXTS

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
    "Column",
    "Kind",
    "Table",
    "as_json",
    "as_markdown",
    "as_rows",
    "as_text",
]
