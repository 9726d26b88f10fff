"""Store dialogues authored for checks and trials, apart from everything that is ranked."""

import datetime as dt
from collections.abc import Iterable, Mapping

from completions.choices import SystemKind
from completions.dialogues.context_extraction import cut_context, digest, turns_hash
from completions.models import Completion, Context, Dataset, Dialogue, System

CHECK_SYSTEMS = {
    "authored-high": "Authored for checks: high",
    "authored-low": "Authored for checks: low",
}


class DatasetTakenError(Exception):
    """A dataset that is not for checks has the slug that the authored dialogues need."""


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


def check_systems() -> dict[str, System]:
    """Return the systems of messages for checks by their slugs, made if need be."""
    return {
        slug: System.objects.get_or_create(
            slug=slug, defaults={"name": name, "kind": SystemKind.CHECK}
        )[0]
        for slug, name in CHECK_SYSTEMS.items()
    }


def store_check_texts(
    context: Context,
    *,
    high: str,
    low: str,
    systems: Mapping[str, System],
    now: dt.datetime,
) -> tuple[Completion, Completion]:
    """Return the good message of a context for checks and the bad one, made if need be.

    Nothing ranks the ``systems``, which are those for checks.
    """
    texts = {"authored-high": high, "authored-low": low}
    # In the order of their hashes, so that the good one is the first of the two half of the time.
    rows = {
        slug: Completion.objects.get_or_create(
            context=context,
            system=systems[slug],
            defaults={"text": texts[slug], "content_hash": digest(texts[slug]), "created_at": now},
        )[0]
        for slug in sorted(texts, key=lambda slug: digest(texts[slug]))
    }
    return rows["authored-high"], rows["authored-low"]
