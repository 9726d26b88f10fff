"""Import dialogues and build contexts from them."""

import datetime as dt
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.utils.text import slugify

from completions import selection
from completions.choices import Stratum, SystemKind
from completions.ingest import ParsedDialogue
from completions.models import Completion, Context, Dataset, Dialogue, System
from completions.selection import Candidate
from completions.services.log import record

BATCH = 500
ORIGINAL_SYSTEM = {"name": "Original dataset", "kind": SystemKind.ORIGINAL}


class DatasetNameError(ValueError):
    """A dataset's name gives no address."""


class DatasetNotFoundError(LookupError):
    """No dataset has that name."""


@dataclass(frozen=True)
class ImportReport:
    """What a file held, and how many of its dialogues were new."""

    dataset: Dataset
    n_dialogues: int
    n_utterances: int
    n_turns: int
    n_couplets: int
    n_added: int


@dataclass(frozen=True)
class BuildReport:
    """Candidates of the dataset, its regular contexts, their dialogues, and how many were new."""

    n_candidates: int
    n_contexts: int
    n_dialogues: int
    n_added: int


@transaction.atomic
def import_dialogues(
    *,
    dataset_name: str,
    dialogues: Iterable[ParsedDialogue],
    now: dt.datetime,
    licence: str = "",
    is_authored: bool = False,
) -> ImportReport:
    """Add the dialogues that the dataset does not have yet; make the dataset if need be.

    A dialogue is known by the hash of its turns, so repeating an import adds nothing. ``licence``
    and ``is_authored`` describe a new dataset and leave one that exists as it is.

    Raises
    ------
    DatasetNameError
        If the name has no Latin letter or digit for the dataset's address.
    """
    dialogues = tuple(dialogues)
    dataset = _dataset(dataset_name, now=now, licence=licence, is_authored=is_authored)
    rows = _new_rows(dataset, dialogues, now)
    Dialogue.objects.bulk_create(rows, batch_size=BATCH)
    report = ImportReport(
        dataset=dataset,
        n_dialogues=len(dialogues),
        n_utterances=sum(dialogue.n_utterances for dialogue in dialogues),
        n_turns=sum(len(dialogue.turns) for dialogue in dialogues),
        n_couplets=sum(len(selection.couplets(_turns(dialogue))) for dialogue in dialogues),
        n_added=len(rows),
    )
    if rows:
        record(
            action="dialogues.imported",
            subject=f"dataset {dataset.slug}",
            now=now,
            after={"dialogues": report.n_dialogues, "added": report.n_added},
        )
    return report


@transaction.atomic
def build_contexts(*, dataset_name: str, n: int, seed: int, now: dt.datetime) -> BuildReport:
    """Bring the dataset's regular contexts to ``n``, each with its original reply.

    Contexts that exist stay and count; with the same seed, building more extends what building
    fewer gave. Repeating a call adds nothing.

    Raises
    ------
    DatasetNotFoundError
        If no dataset has that name.
    SelectionError
        If the dataset cannot give that many.
    """
    dataset = Dataset.objects.select_for_update().filter(slug=slugify(dataset_name)).first()
    if dataset is None:
        msg = f'there is no dataset "{dataset_name}"; import one first'
        raise DatasetNotFoundError(msg)
    dialogues = {row.content_hash: row for row in dataset.dialogues.select_related("dataset")}
    found = [one for key, row in dialogues.items() for one in selection.candidates(key, row.turns)]
    taken = _taken(dataset)
    chosen = selection.select(found, n=n, seed=seed, taken=taken)
    contexts = [_context(dialogues[one.dialogue], one, seed, now) for one in chosen]
    original, _ = System.objects.get_or_create(slug="original-dataset", defaults=ORIGINAL_SYSTEM)
    stored = Context.objects.bulk_create(contexts, batch_size=BATCH)
    replies = [_original_reply(context, original) for context in stored]
    Completion.objects.bulk_create(replies, batch_size=BATCH)
    if chosen:
        record(
            action="contexts.built",
            subject=f"dataset {dataset.slug}",
            now=now,
            after={"asked": n, "seed": seed, "added": len(chosen)},
        )
    sources = {key for key, _ in taken} | {one.dialogue for one in chosen}
    return BuildReport(len(found), len(taken) + len(chosen), len(sources), len(chosen))


def _dataset(name: str, *, now: dt.datetime, licence: str, is_authored: bool) -> Dataset:
    slug = slugify(name)
    if not slug:
        msg = f'"{name}" cannot name a dataset: its address needs a Latin letter or a digit'
        raise DatasetNameError(msg)
    dataset, _ = Dataset.objects.get_or_create(
        slug=slug,
        defaults={
            "name": name,
            "licence": licence,
            "is_authored": is_authored,
            "created_at": now,
        },
    )
    return dataset


def _new_rows(
    dataset: Dataset, dialogues: Iterable[ParsedDialogue], now: dt.datetime
) -> list[Dialogue]:
    known = set(dataset.dialogues.values_list("content_hash", flat=True))
    rows = []
    for position, dialogue in enumerate(dialogues):
        if dialogue.content_hash in known:
            continue
        known.add(dialogue.content_hash)
        rows.append(
            Dialogue(
                dataset=dataset,
                position=position,
                content_hash=dialogue.content_hash,
                emotion_type=dialogue.emotion_type,
                problem_type=dialogue.problem_type,
                situation=dialogue.situation,
                source_labels=dialogue.source_labels,
                turns=_turns(dialogue),
                n_utterances=dialogue.n_utterances,
                imported_at=now,
            )
        )
    return rows


def _turns(dialogue: ParsedDialogue) -> list[dict[str, str]]:
    return [{"role": turn.role, "text": turn.text} for turn in dialogue.turns]


def _taken(dataset: Dataset) -> list[tuple[str, int]]:
    return list(
        dataset.contexts.filter(stratum=Stratum.REGULAR)
        .order_by("pk")
        .values_list("dialogue__content_hash", "turn_index")
    )


def _context(dialogue: Dialogue, chosen: Candidate, seed: int, now: dt.datetime) -> Context:
    turns = dialogue.turns[: chosen.turn_index + 1]
    dataset = dialogue.dataset
    return Context(
        dataset=dataset,
        dialogue=dialogue,
        key=_digest(f"{dataset.slug} {dialogue.content_hash} {chosen.turn_index}")[:24],
        turn_index=chosen.turn_index,
        turns=turns,
        provenance={
            "dialogue": dialogue.content_hash,
            "turn_index": chosen.turn_index,
            "n_words": chosen.n_words,
            "rule": selection.RULE,
            "seed": seed,
        },
        content_hash=_digest(json.dumps(turns, ensure_ascii=False, separators=(",", ":"))),
        slots_left=dataset.completions_per_context,
        created_at=now,
    )


def _original_reply(context: Context, system: System) -> Completion:
    """Return the completion that the dialogue itself goes on with."""
    reply = context.dialogue.turns[context.turn_index + 1]["text"]
    return Completion(
        context=context,
        system=system,
        text=reply,
        content_hash=_digest(reply),
        created_at=context.created_at,
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
