"""Items: what several systems wrote a text for, with a conversation or a prompt, or without."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from completions.dialogues.context_extraction import BATCH, cut_context, digest
from completions.dialogues.ingest.dialogue import Turn
from completions.models import Context, Dataset, Dialogue


class TextItem(NamedTuple):
    """One thing that texts were written for; ``turns`` are empty where nothing came before."""

    key: str
    turns: tuple[Turn, ...] = ()
    language: str = "en"

    @property
    def content_hash(self) -> str:
        """Return by what the item is known: its key, for two items may have one prompt."""
        return digest(f"item {self.key}")

    @property
    def stored_turns(self) -> list[dict[str, str]]:
        """Return the turns as dialogues hold them."""
        return [{"role": turn.role, "text": turn.text} for turn in self.turns]


class ItemChangedError(ValueError):
    """An item is there already with another context: what was judged never changes."""


def store_items(
    *, dataset: Dataset, items: Sequence[TextItem], now: dt.datetime
) -> Mapping[str, str]:
    """Add the items that the dataset does not have, and return the keys of contexts by item.

    An item of one turn at most is no conversation: raters read a prompt, or the texts alone.
    To be called in a transaction.

    Raises
    ------
    ItemChangedError
        If an item is there with another context; one without may be left out.
    """
    known = {row.content_hash: row for row in dataset.dialogues.all()}
    for item in items:
        there = known.get(item.content_hash)
        if there is not None and item.turns and there.turns != item.stored_turns:
            msg = f'"{item.key}" is there already with another context: give the item another name'
            raise ItemChangedError(msg)
    new = [item for item in items if item.content_hash not in known]
    rows = [
        Dialogue(
            dataset=dataset,
            position=len(known) + place,
            content_hash=item.content_hash,
            source_id=item.key,
            language=item.language,
            turns=item.stored_turns,
            n_utterances=len(item.turns),
            imported_at=now,
        )
        for place, item in enumerate(new)
    ]
    Dialogue.objects.bulk_create(rows, batch_size=BATCH)
    cut = [
        cut_context(row, max(0, len(row.turns) - 1), provenance={"item": row.source_id}, now=now)
        for row in rows
    ]
    Context.objects.bulk_create(cut, batch_size=BATCH)
    keys = {item.key for item in items}
    found = Context.objects.filter(dataset=dataset).values_list("dialogue__source_id", "key")
    return {item: key for item, key in found if item in keys}
