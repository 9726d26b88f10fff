"""Rows and batches of completions that were made elsewhere."""

from typing import Any

from django.contrib.auth.models import User

from completions.choices import Way
from completions.systems import services
from completions.systems.importing import BroughtRow
from tests.factories import NOW
from tests.factories_written_once import make_user

TEXT = "That sounds lonely. What would a good evening look like?"


def row(position: int = 0, **fields: Any) -> BroughtRow:
    given: dict[str, Any] = {"context": "abc", "system": "ash", "text": TEXT}
    return BroughtRow(position, **given | fields)


def bring(*rows: Any, by: User | None = None, **options: Any) -> services.IntakeReport:
    given: dict[str, Any] = {"way": Way.API, "now": NOW}
    return services.bring_completions(rows=rows, by=by or make_user(), **given | options)
