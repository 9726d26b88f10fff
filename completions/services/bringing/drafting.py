"""Check texts and flag them before anything is locked: it takes a while, and decides nothing."""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence

from completions.models import Context, Dataset, Writer
from completions.services.bringing.ground import batches, contexts_by_key
from completions.services.bringing.sifting import Draft, fault_of, usable
from completions.services.flagging import Flag, flags_of
from completions.written_files import RefusedRow, WrittenRow


def draft_rows(
    dataset: Dataset, rows: Iterable[WrittenRow | RefusedRow], *, now: dt.datetime
) -> Iterator[Draft | RefusedRow]:
    """Yield each row with its flags, or refused if its text or its time cannot be used."""
    for batch in batches(rows):
        checked = [usable(row, now=now) if isinstance(row, WrittenRow) else row for row in batch]
        contexts = contexts_by_key(row.context for row in checked if isinstance(row, WrittenRow))
        for row in checked:
            yield row if isinstance(row, RefusedRow) else Draft(row, _flags(row, dataset, contexts))


def _flags(row: WrittenRow, dataset: Dataset, contexts: Mapping[str, Context]) -> Sequence[Flag]:
    context = contexts.get(row.context)
    if context is None or fault_of(context, dataset) is not None:
        return ()
    return flags_of(text=row.text, writer=Writer(), context=context, without=None)
