"""Contexts cut from stored dialogues, each with the reply that followed."""

import datetime as dt
import hashlib
import json
from collections.abc import Mapping, Sequence

from completions.choices import Stratum, SystemKind
from completions.models import Completion, Context, Dialogue, System

BATCH = 500
ORIGINAL_SYSTEM = {"name": "Original dataset", "kind": SystemKind.ORIGINAL}


def cut_context(
    dialogue: Dialogue,
    turn_index: int,
    *,
    provenance: Mapping[str, object],
    now: dt.datetime,
    stratum: Stratum = Stratum.REGULAR,
) -> Context:
    """Return the dialogue up to and with a seeker turn as a context that is not stored yet."""
    dataset = dialogue.dataset
    turns = dialogue.turns[: turn_index + 1]
    place = f"{dataset.slug} {dialogue.content_hash} {turn_index}"
    return Context(
        dataset=dataset,
        dialogue=dialogue,
        key=digest(place if stratum == Stratum.REGULAR else f"{place} {stratum}")[:24],
        turn_index=turn_index,
        turns=turns,
        stratum=stratum,
        provenance=dict(provenance),
        content_hash=turns_hash(turns),
        slots_left=dataset.completions_per_context,
        created_at=now,
    )


def store_contexts(cut: Sequence[tuple[Context, str | None]]) -> None:
    """Add the contexts; a reply becomes the completion of the system "Original dataset"."""
    original, _ = System.objects.get_or_create(slug="original-dataset", defaults=ORIGINAL_SYSTEM)
    Context.objects.bulk_create([context for context, _ in cut], batch_size=BATCH)
    replies = [_reply(context, text, original) for context, text in cut if text is not None]
    Completion.objects.bulk_create(replies, batch_size=BATCH)


def _reply(context: Context, text: str, system: System) -> Completion:
    return Completion(
        context=context,
        system=system,
        text=text,
        content_hash=digest(text),
        created_at=context.created_at,
    )


def turns_hash(turns: Sequence[Mapping[str, str]]) -> str:
    """Return the hash by which a context's turns are known."""
    return digest(json.dumps(turns, ensure_ascii=False, separators=(",", ":")))


def digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()
