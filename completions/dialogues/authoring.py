"""Store dialogues authored for checks and trials, apart from everything that is ranked."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from completions.choices import SystemKind
from completions.dialogues.context_extraction import cut_context, digest, turns_hash
from completions.models import Completion, Context, Dataset, Dialogue, System

CHECK_SYSTEMS = {
    "authored-high": "Authored for checks: high",
    "authored-low": "Authored for checks: low",
}


class DatasetTakenError(Exception):
    """A dataset that is not for checks has the slug that the authored dialogues need."""


@dataclass(frozen=True)
class AuthoredDialogue:
    """A dialogue that ends on the seeker's turn, with a good message and one that is not."""

    key: str
    turns: Sequence[Mapping[str, str]]
    high: str
    low: str


@dataclass(frozen=True)
class StoredDialogue:
    """The rows of an authored dialogue."""

    context: Context
    high: Completion
    low: Completion


@transaction.atomic
def store_authored_dialogues(
    *, name: str, dialogues: Iterable[AuthoredDialogue], now: dt.datetime
) -> dict[str, StoredDialogue]:
    """Return the rows of the dialogues by their keys, adding those that are missing.

    They live in a dataset that is for checks alone, as contexts that want no completion, with
    completions of two systems that nothing ranks. Repeating a call adds nothing.

    Raises
    ------
    DatasetTakenError
        If a dataset that is not for checks has that name.
    """
    dataset = lock_authored_dataset(slug=name, name=f"Quality checks: {name}", now=now)
    systems = {slug: _system(slug) for slug in CHECK_SYSTEMS}
    return {
        dialogue.key: _store(dialogue, dataset, position, systems, now)
        for position, dialogue in enumerate(dialogues)
    }


def lock_authored_dataset(*, slug: str, name: str, now: dt.datetime) -> Dataset:
    """Return the dataset of authored dialogues, made if need be.

    It is locked, so that two who load the same dialogues do not meet.

    Raises
    ------
    DatasetTakenError
        If a dataset that is not for checks has that slug.
    """
    dataset, _ = Dataset.objects.get_or_create(
        slug=slug,
        defaults={
            "name": name,
            "is_authored": True,
            "is_for_checks": True,
            "completions_per_context": 0,
            "created_at": now,
        },
    )
    if not dataset.is_for_checks:
        msg = f'"{slug}" is a dataset of its own: rename it, or the set of checks'
        raise DatasetTakenError(msg)
    return Dataset.objects.select_for_update().get(pk=dataset.pk)


def store_authored_context(
    dataset: Dataset,
    *,
    key: str,
    turns: Iterable[Mapping[str, str]],
    position: int,
    now: dt.datetime,
) -> Context:
    """Return the context of an authored dialogue in its locked dataset, made if need be."""
    said = [dict(turn) for turn in turns]
    dialogue, _ = Dialogue.objects.get_or_create(
        dataset=dataset,
        content_hash=turns_hash(said),
        defaults={
            "position": position,
            "source_id": key,
            "turns": said,
            "n_utterances": len(said),
            "imported_at": now,
        },
    )
    context = dialogue.contexts.first()
    if context is None:
        provenance = {"authored": dataset.slug, "talk": key}
        context = cut_context(dialogue, len(said) - 1, provenance=provenance, now=now)
        context.save()
    return context


def _system(slug: str) -> System:
    fields = {"name": CHECK_SYSTEMS[slug], "kind": SystemKind.CHECK}
    return System.objects.get_or_create(slug=slug, defaults=fields)[0]


def _store(
    dialogue: AuthoredDialogue,
    dataset: Dataset,
    position: int,
    systems: Mapping[str, System],
    now: dt.datetime,
) -> StoredDialogue:
    context = store_authored_context(
        dataset, key=dialogue.key, turns=dialogue.turns, position=position, now=now
    )
    texts = {"authored-high": dialogue.high, "authored-low": dialogue.low}
    # In the order of their hashes, so that the good one is the first of the two half of the time.
    rows = {
        slug: _completion(context, systems[slug], texts[slug], now)
        for slug in sorted(texts, key=lambda slug: digest(texts[slug]))
    }
    return StoredDialogue(context, high=rows["authored-high"], low=rows["authored-low"])


def _completion(context: Context, system: System, text: str, now: dt.datetime) -> Completion:
    return Completion.objects.get_or_create(
        context=context,
        system=system,
        defaults={"text": text, "content_hash": digest(text), "created_at": now},
    )[0]
