"""Labels that quote texts: kept from the answers of models, and forgotten with their texts."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from completions import llm
from completions.choices import CallState, Presence
from completions.llm.labels import Label, Labels
from completions.models import StoredLabel
from completions.runs.services import states
from completions.runs.services.asking import ModelAnswer

DELETED = "[deleted]"
"""Stands where words of a text stood that was deleted at its writer's wish."""
_PRESENCE: Mapping[str, Presence] = {one.lower(): one for one in Presence}


class TextDeletedError(llm.PermanentError):
    """The text was deleted at its writer's wish after somebody wanted a model asked about it."""

    kind = states.ERASED

    def __init__(self) -> None:
        super().__init__("The text was deleted at its writer's wish.")


ERASED = {"error_kind": states.ERASED, "error_detail": str(TextDeletedError())}


def keep_labels(
    call: QuerySet[Any],
    heard: ModelAnswer[Labels],
    rows: type[StoredLabel],
    *,
    flags: Mapping[str, Any] | None = None,
) -> None:
    """End the one call, with a label for each key if the answer could be read.

    ``flags`` say what is unusual about the text that was asked about.
    """
    columns = heard.columns()
    columns["asked"] |= flags or {}
    call.update(**columns)
    found = heard.value or {}
    labels = [rows(**_fields(found[key], heard), **{rows.KEY: key}) for key in found]
    manager: Any = rows.objects
    manager.bulk_create(labels)


def _fields(label: Label, heard: ModelAnswer[Labels]) -> dict[str, Any]:
    """Return the columns that labels of all kinds have."""
    return {
        "call_id": heard.claim.call_id,
        "presence": _PRESENCE[label.presence],
        "probability": label.probability,
        "quote": label.quote,
    }


def keep_nothing(call: QuerySet[Any], heard: ModelAnswer[Labels]) -> None:
    """End the one call, whose text was deleted while it was made: nothing that quotes it stays."""
    fields = heard.columns() | {"raw_answer": DELETED, "state": CallState.FAILED}
    fields["asked"].pop("first_try", None)
    call.update(**fields | ERASED)


def forget_answers(calls: QuerySet[Any]) -> None:
    """Delete the answers as they came, and first tries, which may quote texts that are deleted."""
    for call in calls.filter(asked__has_key="first_try").order_by("pk"):
        parameters = {name: value for name, value in call.asked.items() if name != "first_try"}
        calls.filter(pk=call.pk).update(asked=parameters)
    calls.exclude(raw_answer="").update(raw_answer=DELETED)


def forget_quotes(
    calls: QuerySet[Any], rows: type[StoredLabel], notes: QuerySet[Any], *, now: dt.datetime
) -> None:
    """Delete the words that answers, labels and people's notes quote of texts which are deleted.

    Calls that wait are given up. One that is under way ends by itself, and keeps nothing.
    """
    calls.filter(state=CallState.PENDING).update(state=CallState.FAILED, ended_at=now, **ERASED)
    forget_answers(calls)
    # The exceptions to rows that are written once (ADR-0008): plain querysets, on purpose.
    labels: QuerySet[Any] = QuerySet(rows)
    labels.filter(call__in=calls).exclude(quote="").update(quote=DELETED)
    notes.exclude(note="").update(note="")
