"""What there is to export of a study, with counts, and the rows of an export."""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from annotation.models import ExternalJudgment, Judgment, Study
from annotation.studies.selectors import dimension_keys
from ranking.exports.data_dictionary import TABLES, ExportColumn, ExportTable
from ranking.exports.rows import external, judgments, pairs, raters, texts
from ranking.exports.rows.facts import is_simulated
from ranking.exports.rows.options import ExportFormat, ExportRefusedError, ExportRequest
from ranking.exports.rows.texts import has_texts

BY_NAME = {table.name: table for table in TABLES}


@dataclass(frozen=True)
class Export:
    """Columns, and rows with a cell for each; rows are read while they are taken."""

    table: ExportTable
    columns: tuple[ExportColumn, ...]
    rows: Iterator[tuple[Any, ...]]

    def of_rows(self, rows: Iterator[tuple[Any, ...]]) -> "Export":
        """Return the same with other rows, such as those that are counted while they pass."""
        return replace(self, rows=rows)


def export_of(study: Study, name: str, request: ExportRequest, *, now: dt.datetime) -> Export:
    """Return the export of that name.

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
            rows: Iterator[tuple[Any, ...]] = judgments.rows(study, columns, now=now)
        case "raters":
            rows = raters.rows(study, columns, now=now)
        case "external":
            rows = external.rows(study, columns, now=now)
        case "preferences":
            rows = pairs.rows(study, columns, request, now=now)
        case "contexts":
            rows = texts.contexts(study, columns)
        case "completions":
            rows = texts.completions(study, columns)
        case _:
            rows = texts.comparisons(study, columns)
    return Export(table, columns, rows)


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


@dataclass(frozen=True)
class Offer:
    """One export: how many rows it has, as far as that is known beforehand, and its forms."""

    table: ExportTable
    n_rows: int | None
    forms: tuple[ExportFormat, ...]


@dataclass(frozen=True)
class Offered:
    """All exports of a study; ``has_texts`` says if the licence lets texts be passed on."""

    offers: tuple[Offer, ...]
    has_texts: bool
    licence: str
    is_simulated: bool


def n_rows(study: Study, name: str) -> int | None:
    """Return how many rows an export has, if that is known without reading them."""
    count = COUNTED.get(name)
    return None if count is None else count(study)


def offered(study: Study, *, n_judgments: int | None = None) -> Offered:
    """Return what there is to export; a handful of queries that count.

    Who has counted the judgments before gives ``n_judgments``.
    """
    return Offered(
        offers=tuple(_offer(study, table, n_judgments) for table in TABLES),
        has_texts=has_texts(study),
        licence=study.dataset.licence,
        is_simulated=is_simulated(study),
    )


def _offer(study: Study, table: ExportTable, n_judgments: int | None) -> Offer:
    forms = (ExportFormat.JSONL,) if table.is_nested else tuple(ExportFormat)
    is_known = table.name == "judgments" and n_judgments is not None
    return Offer(table, n_judgments if is_known else n_rows(study, table.name), forms)
