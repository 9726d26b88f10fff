"""What there is to export of a study, with counts, and the rows of an export."""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.db.models import Q

from annotation.models import Comparison, ExternalJudgment, Judgment, Study
from annotation.studies.selectors import dimension_keys
from completions.models import System
from ranking.exports import pairs, rows
from ranking.exports.data_dictionary import ExportColumn, ExportTable
from ranking.exports.options import ExportFormat, ExportRefusedError, ExportRequest
from ranking.exports.tables import TABLES

BY_NAME = {table.name: table for table in TABLES}


def export_of(
    study: Study, name: str, request: ExportRequest, *, now: dt.datetime
) -> tuple[ExportTable, Iterator[tuple[Any, ...]]]:
    """Return the table of that name with the columns asked for, and its rows.

    Rows have a cell for each column, and are read while they are taken.

    Raises
    ------
    ExportRefusedError
        If there is none of that name, or a licence stands against it.
    """
    table = BY_NAME.get(name)
    if table is None:
        msg = f"There is no export {name}: there are {', '.join(BY_NAME)}."
        raise ExportRefusedError(msg)
    columns = columns_of(study, table, request)
    match name:
        case "judgments":
            found: Iterator[tuple[Any, ...]] = rows.judgments(study, columns, now=now)
        case "raters":
            found = rows.raters(study, columns, now=now)
        case "external":
            found = rows.external(study, columns, now=now)
        case "preferences":
            found = pairs.rows(study, columns, request, now=now)
        case "contexts":
            found = rows.contexts(study, columns)
        case "completions":
            found = rows.completions(study, columns)
        case _:
            found = rows.comparisons(study, columns)
    return replace(table, columns=columns), found


def tables_of(study: Study) -> tuple[ExportTable, ...]:
    """Return all tables with the columns that they have in the study."""
    dimensions = dimension_keys(study)
    return tuple(replace(table, columns=table.of(dimensions)) for table in TABLES)


def columns_of(
    study: Study, table: ExportTable, request: ExportRequest
) -> tuple[ExportColumn, ...]:
    """Return the columns of a table as they are asked for."""
    hidden = {one.name for one in table.columns if request.is_blinded and one.shows_system}
    if not request.with_rationales:
        hidden.add("rationale")
    return table.of(dimension_keys(study), without=hidden)


COUNTED: Mapping[str, Callable[[Study], int]] = {
    "judgments": lambda study: Judgment.objects.filter(comparison__study=study).count(),
    "comparisons": lambda study: study.comparisons.count(),
    "contexts": lambda study: study.comparisons.values("context").distinct().count(),
    "raters": lambda study: study.raters.count(),
    "external": lambda study: ExternalJudgment.objects.filter(batch__study=study).count(),
}
"""How rows are counted; completions and preference pairs are by reading them alone."""


def n_rows(study: Study, name: str) -> int | None:
    """Return how many rows an export has, if that is known without reading them."""
    count = COUNTED.get(name)
    return None if count is None else count(study)


def offers(study: Study, *, n_judgments: int | None = None) -> list[dict[str, Any]]:
    """Return each export with its forms and how many rows it has, as far as that is known.

    A handful of queries that count; who has counted the judgments before gives ``n_judgments``.
    """
    known = {} if n_judgments is None else {"judgments": n_judgments}
    return [
        {
            "table": table,
            "n_rows": known[table.name] if table.name in known else n_rows(study, table.name),
            "forms": [ExportFormat.JSONL] if table.is_nested else list(ExportFormat),
        }
        for table in TABLES
    ]


def is_simulated(study: Study) -> bool:
    """Say whether anything that an export of the study holds is simulated."""
    systems = System.objects.filter(is_simulated=True)
    pairs = Comparison.objects.filter(study=study)
    of_system = Q(first__system__in=systems) | Q(second__system__in=systems)
    return (
        study.is_simulated
        or study.raters.filter(is_simulated=True).exists()
        or (systems.exists() and pairs.filter(of_system).exists())
        or study.dataset.contexts.filter(is_simulated=True).exists()
        or study.external_batches.filter(is_simulated=True).exists()
        or Judgment.objects.filter(judge__is_simulated=True, comparison__study=study).exists()
    )
