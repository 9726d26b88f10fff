"""What exports ask of the rows of a study."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.models import BooleanField, Case, ExpressionWrapper, Q, QuerySet, Value, When
from django.db.models.expressions import Combinable

from annotation.models import Comparison, Judgment, Study
from completions.models import System

BATCH = 2000
"""Rows that are fetched at once."""
Row = TypeVar("Row")


def streamed(rows: QuerySet[Any, Row]) -> Iterator[Row]:
    """Yield rows as the database gives them, a batch at a time.

    On PostgreSQL a cursor outside of a transaction would have the server write all rows to a file
    first. On SQLite a transaction would keep everybody else from writing meanwhile.
    """
    with _cursor_to_the_end() if connection.vendor == "postgresql" else nullcontext():
        yield from rows.iterator(chunk_size=BATCH)


@contextmanager
def _cursor_to_the_end() -> Iterator[None]:
    """Have PostgreSQL plan for all rows of a cursor, and compile nothing: hundreds of small terms.

    Otherwise a cursor is planned for its first tenth.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL cursor_tuple_fraction = 1.0; SET LOCAL jit = off")
        yield


def when(holds: Q) -> Combinable:
    """Return whether something holds, as a column."""
    return Case(When(holds, then=True), default=False, output_field=BooleanField())


def study_columns(study: Study) -> dict[str, Combinable]:
    """Return the columns that every export ends with."""
    return {
        "study": Value(study.slug),
        "is_simulated_study": ExpressionWrapper(
            Value(study.is_simulated), output_field=BooleanField()
        ),
    }


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
