"""Store dialogues authored for checks and trials, apart from everything that is ranked."""

import datetime as dt
from collections.abc import Mapping, Sequence

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


def store_authored_contexts(
    dataset: Dataset,
    dialogues: Sequence[tuple[str, Sequence[Mapping[str, str]]]],
    *,
    now: dt.datetime,
) -> list[Context]:
    """Return the contexts of authored dialogues in their locked dataset, made if need be.

    Each dialogue comes as its key and its turns. Four queries at most.
    """
    stored = {one.content_hash: one for one in dataset.dialogues.all()}
    hashes = [turns_hash(turns) for _, turns in dialogues]
    new = {
        found: Dialogue(
            dataset=dataset,
            content_hash=found,
            position=position,
            source_id=key,
            turns=[*map(dict, turns)],
            n_utterances=len(turns),
            imported_at=now,
        )
        for position, (found, (key, turns)) in enumerate(zip(hashes, dialogues, strict=True))
        if found not in stored
    }
    Dialogue.objects.bulk_create(new.values())
    Context.objects.bulk_create(_whole(dialogue, now) for dialogue in new.values())
    contexts = {one.dialogue_id: one for one in dataset.contexts.all()}
    return [contexts[(stored | new)[found].pk] for found in hashes]


def _whole(dialogue: Dialogue, now: dt.datetime) -> Context:
    provenance = {"authored": dialogue.dataset.slug, "talk": dialogue.source_id}
    return cut_context(dialogue, dialogue.n_utterances - 1, provenance=provenance, now=now)


def store_check_texts(
    texts: Sequence[tuple[Context, str, str]], *, now: dt.datetime
) -> list[tuple[Completion, Completion]]:
    """Return the good and the bad message for each context for checks, made if need be.

    Each context comes with the text of the good one and that of the bad one.
    """
    systems = _check_systems()
    there = Completion.objects.filter(system__in=systems, context__in=[one for one, *_ in texts])
    stored = {(one.context_id, one.system_id): one for one in there}
    new = [
        Completion(
            context=context, system=system, text=text, content_hash=digest(text), created_at=now
        )
        for context, *pair in texts
        # By their hashes, so that the good one is the first of the two half of the time.
        for system, text in sorted(zip(systems, pair, strict=True), key=lambda one: digest(one[1]))
        if (context.pk, system.pk) not in stored
    ]
    Completion.objects.bulk_create(new)
    stored |= {(one.context_id, one.system_id): one for one in new}
    high, low = systems
    return [(stored[one.pk, high.pk], stored[one.pk, low.pk]) for one, *_ in texts]


def _check_systems() -> list[System]:
    """Return the systems of good and of bad messages for checks, made if need be."""
    kind = SystemKind.CHECK
    return [
        System.objects.get_or_create(slug=slug, defaults={"name": name, "kind": kind})[0]
        for slug, name in CHECK_SYSTEMS.items()
    ]
