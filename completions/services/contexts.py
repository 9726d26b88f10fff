"""Import dialogues and build contexts from them."""

import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count
from django.utils.text import slugify

from completions import screening as rules
from completions import selection, selectors
from completions.choices import Stratum, SystemKind
from completions.ingest import ParsedDialogue
from completions.models import Candidate, Completion, Context, Dataset, Dialogue, System
from completions.services import screening
from completions.services.log import record

BATCH = 500
ORIGINAL_SYSTEM = {"name": "Original dataset", "kind": SystemKind.ORIGINAL}


class DatasetNameError(ValueError):
    """A dataset's name gives no address."""


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
    """Suitable candidates, regular contexts, their dialogues, and how many contexts were new."""

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


def build_contexts(
    *, dataset_name: str, n: int, seed: int, now: dt.datetime, shown: screening.Shown = iter
) -> BuildReport:
    """Screen what has not been screened and bring the dataset's regular contexts to ``n``.

    Contexts that exist stay and count, except those that a person dropped: they are replaced.
    Repeating a call adds nothing. ``shown`` is passed on to the screening.

    Raises
    ------
    DatasetNotFoundError
        If no dataset has that name.
    SelectionError
        If the dataset cannot give that many; the screening is kept.
    """
    dataset = selectors.dataset_named(dataset_name)
    screening.screen_dataset(dataset=dataset, now=now, shown=shown)
    return _choose(dataset, n, seed, now)


@transaction.atomic
def _choose(dataset: Dataset, n: int, seed: int, now: dt.datetime) -> BuildReport:
    Dataset.objects.select_for_update().get(pk=dataset.pk)  # one builder at a time
    suitable = _suitable(dataset)
    regular = dataset.contexts.filter(stratum=Stratum.REGULAR).select_related("dialogue")
    taken = [_key(context) for context in regular.in_use()]
    dropped = {_key(context) for context in regular.dropped()}
    chosen = selection.select(
        suitable.keys() - dropped, n=n, seed=seed, weights=_weights(dataset), taken=taken
    )
    _store([_context(suitable[one], one, seed, now) for one in chosen])
    if chosen:
        record(
            action="contexts.built",
            subject=f"dataset {dataset.slug}",
            now=now,
            after={"asked": n, "seed": seed, "added": len(chosen)},
        )
    return BuildReport(
        n_candidates=len(suitable),
        n_contexts=len(taken) + len(chosen),
        n_dialogues=len({one.dialogue for one in (*taken, *chosen)}),
        n_added=len(chosen),
    )


def _suitable(dataset: Dataset) -> dict[selection.Candidate, Candidate]:
    """Return the candidates that may become contexts, by how the selection knows them."""
    rows = Candidate.objects.filter(dialogue__dataset=dataset, is_suitable=True)
    return {_key(row): row for row in rows.select_related("dialogue__dataset")}


def _key(row: Candidate | Context) -> selection.Candidate:
    dialogue = row.dialogue
    cell = (dialogue.emotion_type, dialogue.problem_type)
    return selection.Candidate(dialogue.content_hash, row.turn_index, cell)


def _weights(dataset: Dataset) -> dict[selection.Cell, int]:
    """Return how many dialogues each cell has: contexts mirror the source."""
    cells = dataset.dialogues.order_by().values_list("emotion_type", "problem_type")
    return {(emotion, problem): n for emotion, problem, n in cells.annotate(n=Count("pk"))}


def _store(contexts: Sequence[Context]) -> None:
    """Add the contexts, each with the reply that its dialogue goes on with."""
    original, _ = System.objects.get_or_create(slug="original-dataset", defaults=ORIGINAL_SYSTEM)
    stored = Context.objects.bulk_create(contexts, batch_size=BATCH)
    replies = [_original_reply(context, original) for context in stored]
    Completion.objects.bulk_create(replies, batch_size=BATCH)


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


def _context(
    candidate: Candidate, chosen: selection.Candidate, seed: int, now: dt.datetime
) -> Context:
    dialogue = candidate.dialogue
    dataset = dialogue.dataset
    turns = dialogue.turns[: chosen.turn_index + 1]
    return Context(
        dataset=dataset,
        dialogue=dialogue,
        key=_digest(f"{dataset.slug} {dialogue.content_hash} {chosen.turn_index}")[:24],
        turn_index=chosen.turn_index,
        turns=turns,
        provenance=_provenance(candidate, chosen, seed),
        content_hash=_digest(json.dumps(turns, ensure_ascii=False, separators=(",", ":"))),
        slots_left=dataset.completions_per_context,
        created_at=now,
    )


def _provenance(candidate: Candidate, chosen: selection.Candidate, seed: int) -> dict[str, object]:
    """Say where a context is from, which signals it carries, and which rules chose it."""
    fired = {finding["rule"] for finding in candidate.findings}
    return {
        "dialogue": chosen.dialogue,
        "turn_index": chosen.turn_index,
        "cell": list(chosen.cell),
        "signals": [name for name in rules.SIGNALS if name in fired],
        "findings": candidate.findings,
        "screening": candidate.rules,
        "selection": selection.RULE,
        "seed": seed,
    }


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
