"""Exports of a study: one source of rows, three ways to write them (ADR-0060)."""

from ranking.exports.rows.options import FORMS, ExportFormat, ExportRefusedError, ExportRequest
from ranking.exports.rows.sources import Export, Offered, export_of, n_rows, offered, tables_of
from ranking.exports.rows.writing import file_name, written

__all__ = [
    "FORMS",
    "Export",
    "ExportFormat",
    "ExportRefusedError",
    "ExportRequest",
    "Offered",
    "export_of",
    "file_name",
    "n_rows",
    "offered",
    "tables_of",
    "written",
]
