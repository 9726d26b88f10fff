"""Judgments made elsewhere, each with its source."""

import datetime as dt
from collections.abc import Iterator

from django.db.models import CharField, F, OuterRef, Subquery, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Coalesce

from access.console.csv_cells import Cell
from annotation.models import ExternalDecision, ExternalJudgment, Study
from ranking.exports.data_dictionary import ExportColumn
from ranking.exports.rows.facts import streamed, study_columns

MARK = "mark_"
NOTHING = Value(None, output_field=CharField())  # told when the row is there
PLAIN: dict[str, Combinable] = {
    "source": F("batch__source"),
    "reference": F("batch__reference"),
    "url": F("batch__url"),
    "licence": F("batch__licence"),
    "collected_from": Cast("batch__collected_from", CharField()),
    "collected_until": Cast("batch__collected_until", CharField()),
    "is_simulated": F("batch__is_simulated"),
    "rater": F("rater"),
    "comparison": F("comparison__key"),
    "context": F("comparison__context__key"),
    "dialogue": F("comparison__context__dialogue__content_hash"),
    "stratum": F("comparison__context__stratum"),
    "purpose": F("comparison__purpose"),
    "first_system": F("comparison__first__system__slug"),
    "second_system": F("comparison__second__system__slug"),
    "first_completion": F("comparison__first__content_hash"),
    "second_completion": F("comparison__second__content_hash"),
    "verdict": F("verdict"),
    "judged_at": F("judged_at"),
    "received_at": F("batch__received_at"),
}


def rows(
    study: Study, columns: tuple[ExportColumn, ...], *, now: dt.datetime
) -> Iterator[tuple[Cell, ...]]:
    """Yield one row per verdict in the order of arrival; one query, read in batches."""
    decisions = ExternalDecision.objects.filter(batch=OuterRef("batch"), decided_at__lte=now)
    newest = decisions.order_by("-decided_at", "-pk").values("is_excluded")[:1]
    known = PLAIN | study_columns(study)
    known["is_excluded"] = Coalesce(Subquery(newest), Value(False))  # noqa: FBT003 (only by position)
    names = [column.name for column in columns]
    marks = [(place, name) for place, name in enumerate(names) if name.startswith(MARK)]
    found = ExternalJudgment.objects.filter(batch__study=study).order_by("pk")
    chosen = [known.get(name, NOTHING) for name in names]
    for *cells, given in streamed(found.values_list(*chosen, F("marks"))):
        for place, name in marks:
            cells[place] = given.get(name.removeprefix(MARK))
        yield tuple(cells)
