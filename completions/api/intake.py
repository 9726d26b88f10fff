"""Completions that a program brings in: its JSON, one service, and every refusal with its place."""

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.contrib.auth.models import AnonymousUser, User
from pydantic import BaseModel, Field
from rest_framework.exceptions import ValidationError

from access.api.errors import TooLargeError
from access.api.stored_answers import StoredAnswer
from completions.api.serializers import IntakeOut
from completions.choices import Way
from completions.dialogues import queries
from completions.files import Refused, printable
from completions.models import Dataset
from completions.systems.importing import CompletionIn, ImportedRow, checked
from completions.systems.services import importing

MOST_ROWS = 1_000
SLUG = r"[A-Za-z0-9_-]{1,50}"
MEMBERS = frozenset({"dataset", "completions"})


class CompletionBatch(BaseModel):
    """Completions to bring in, all of them or none."""

    dataset: str | None = Field(
        default=None, description="If given, every context has to be of this dataset."
    )
    completions: list[CompletionIn] = Field(min_length=1, max_length=MOST_ROWS)


def import_rows(sent: object, *, by: User | AnonymousUser, now: dt.datetime) -> StoredAnswer:
    """Store a batch, and say what became of each row.

    Raises
    ------
    ValidationError
        If the batch is none, or one of its rows cannot be used; with a pointer to each fault.
    TooLargeError
        If it has too many rows.
    """
    if not isinstance(by, User):
        msg = "nobody in particular brings nothing in"
        raise TypeError(msg)
    rows, dataset = _read(sent)
    try:
        report = importing.import_completions(
            rows=rows, way=Way.API, by=by, now=now, dataset=dataset
        )
    except importing.RowsRefusedError as error:
        raise _told(error.refused) from error
    return StoredAnswer(201 if report.n_new else 200, IntakeOut(report).data)


def _read(sent: object) -> tuple[list[ImportedRow | Refused], Dataset | None]:
    if not isinstance(sent, dict):
        raise ValidationError(["Send an object with the member completions."])
    if unknown := sorted(sent.keys() - MEMBERS):
        raise ValidationError({printable(name): ["Not known: take it out."] for name in unknown})
    found = sent.get("completions")
    if not isinstance(found, list) or not found:
        raise ValidationError({"completions": ["Send a list of at least one completion."]})
    if len(found) > MOST_ROWS:
        msg = f"At most {MOST_ROWS:,} completions at once: send smaller batches."
        raise TooLargeError(msg)
    rows = list[ImportedRow | Refused]()
    for position, value in enumerate(found):
        row = checked(value, position)
        rows.extend([row] if isinstance(row, ImportedRow) else row)
    return rows, _dataset(sent.get("dataset"))


def _dataset(slug: object) -> Dataset | None:
    if slug is None:
        return None
    is_slug = isinstance(slug, str) and re.fullmatch(SLUG, slug) is not None
    dataset = queries.dataset_by_slug(str(slug)) if is_slug else None
    if dataset is None:
        raise ValidationError({"dataset": ["There is no such dataset. Mend it, or leave it out."]})
    return dataset


def _told(refused: Sequence[Refused]) -> ValidationError:
    """Return the error whose pointers lead to each row and field."""
    return ValidationError({"completions": _nested(refused)})


def _nested(refused: Iterable[Refused]) -> dict[str, dict[str, list[str]]]:
    by_row = defaultdict[str, defaultdict[str, list[str]]](lambda: defaultdict(list))
    for one in refused:
        said = f"{one.why[:1].upper()}{one.why[1:]}. {one.remedy}"
        by_row[str(one.position)][one.field or "non_field_errors"].append(said)
    return {row: dict(fields) for row, fields in by_row.items()}
