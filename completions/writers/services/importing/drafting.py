"""Check texts and flag them before anything is locked: it takes a while, and decides nothing."""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import replace

from completions.files import Reason, Refused, batches, once, refused
from completions.models import Context, Dataset
from completions.writers.importing import WrittenRow
from completions.writers.services.flagging import flags_among
from completions.writers.services.importing.comparing import Library
from completions.writers.services.importing.ground import contexts_by_key
from completions.writers.services.importing.sifting import Draft, fault_of, usable


def draft_rows(
    dataset: Dataset, rows: Iterable[WrittenRow | Refused], *, now: dt.datetime
) -> Iterator[Draft | Refused]:
    """Yield each row with its flags, or refused if its text, its time or its talk is no good."""
    library = Library(dataset)
    for batch in batches(once(rows)):
        checked = _checked(dataset, batch, now=now)
        library.fetch([draft.row for draft in checked if isinstance(draft, Draft)])
        for draft in checked:
            yield draft if isinstance(draft, Refused) else _flagged(draft, library)


def _checked(
    dataset: Dataset, rows: Iterable[WrittenRow | Refused], *, now: dt.datetime
) -> list[Draft | Refused]:
    usables = [usable(row, now=now) if isinstance(row, WrittenRow) else row for row in rows]
    contexts = contexts_by_key(row.context for row in usables if isinstance(row, WrittenRow))
    return [
        row if isinstance(row, Refused) else _draft(row, contexts.get(row.context), dataset)
        for row in usables
    ]


def _draft(row: WrittenRow, context: Context | None, dataset: Dataset) -> Draft | Refused:
    fault = fault_of(context, dataset)
    if context is None or fault is not None:
        return refused(row.position, "", fault or Reason.UNKNOWN_CONTEXT)
    return Draft(row, context)


def _flagged(draft: Draft, library: Library) -> Draft:
    row = draft.row
    flags = flags_among(text=row.text, context=draft.context, compared=library.compared(row))
    library.add(row)
    return replace(draft, flags=flags)
