"""Exports of a study: one source of rows, three ways to write them (ADR-0058)."""

from ranking.exports.asked import FORMS, Asked, ExportRefusedError, Form
from ranking.exports.offered import Offered, n_rows, offered
from ranking.exports.sources import Export, export_of, tables_of
from ranking.exports.writing import file_name, written

__all__ = [
    "FORMS",
    "Asked",
    "Export",
    "ExportRefusedError",
    "Form",
    "Offered",
    "export_of",
    "file_name",
    "n_rows",
    "offered",
    "tables_of",
    "written",
]
