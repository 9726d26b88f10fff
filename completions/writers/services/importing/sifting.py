"""Which rows become messages, why the others do not, and what they are held against."""

import datetime as dt
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import QuerySet

from completions.choices import Review, WriterState
from completions.dialogues import wording
from completions.dialogues.context_extraction import digest
from completions.files import Reason, Refused, batches, refused
from completions.models import Context, Dataset, Writer, WritingLease
from completions.writers.importing import WrittenRow
from completions.writers.services.flagging import Flag
from completions.writers.services.pseudonyms import new_code

Texts = Mapping[tuple[int, int], set[str | None]]


@dataclass
class ExistingTexts:
    """What rows are held against; ``had`` has hashes of texts by context and writer."""

    contexts: Mapping[int, Context]
    writers: dict[str, Writer]
    had: Texts
    arrived: list[Writer] = field(default_factory=list)
    described: list[Writer] = field(default_factory=list)
    taken: dict[int, int] = field(default_factory=lambda: defaultdict(int))


def contexts_by_key(keys: Iterable[str]) -> dict[str, Context]:
    """Return the contexts of any dataset that have one of these keys, with their dialogues."""
    found = dict[str, Context]()
    for batch in batches(sorted(set(keys))):
        rows = Context.objects.select_related("dialogue").filter(key__in=batch)
        found |= {context.key: context for context in rows}
    return found


def lock_authors(dataset: Dataset) -> None:
    """Lock the authors that the dataset has: whoever withdraws now is waited for, and is gone.

    Before the dataset, as everybody does.
    """
    list(_authors(dataset).order_by("pk").select_for_update(of=("self",)).values_list("pk"))


def lock_existing_texts(dataset: Dataset, *, contexts: Iterable[int]) -> ExistingTexts:
    """Lock the contexts in the order of their keys, and read what is known, in a locked dataset."""
    return ExistingTexts(
        contexts=_lock_contexts(contexts),
        writers={author.imported_as: author for author in _authors(dataset)},
        had=_texts_of_authors(dataset),
    )


def _authors(dataset: Dataset) -> QuerySet[Writer]:
    return dataset.writers.filter(state=WriterState.ELSEWHERE).exclude(imported_as="")


def _lock_contexts(pks: Iterable[int]) -> dict[int, Context]:
    found = dict[int, Context]()
    for batch in batches(sorted(set(pks))):
        # no_key: rows that point at a context are stored meanwhile, and slots wait.
        rows = Context.objects.filter(pk__in=batch).order_by("pk").select_for_update(no_key=True)
        found |= {context.pk: context for context in rows}
    return found


def _texts_of_authors(dataset: Dataset) -> Texts:
    leases = WritingLease.objects.filter(
        writer__dataset=dataset, writer__state=WriterState.ELSEWHERE
    )
    had = defaultdict[tuple[int, int], set[str | None]](set)
    for context, writer, text in leases.values_list(
        "context", "writer", "message__revisions__content_hash"
    ):
        had[context, writer].add(text)
    return had


@dataclass(frozen=True)
class Draft:
    """A row that can be used as far as it goes, with what a reviewer should look at."""

    row: WrittenRow
    context: Context
    flags: Sequence[Flag] = ()


@dataclass(frozen=True)
class GoodDraft:
    """A draft that becomes a message, with its writer."""

    draft: Draft
    writer: Writer


def usable(row: WrittenRow, *, now: dt.datetime) -> WrittenRow | Refused:
    """Return the row with its text as it is stored, or what is wrong with the text or its time."""
    if row.written_at is not None and row.written_at > now:
        return refused(row.position, "written_at", Reason.FUTURE)
    try:
        return replace(row, text=wording.check_text(row.text))
    except wording.UnusableTextError as error:
        why = f"not usable: {error}".rstrip(".")
        return refused(row.position, "text", Reason.UNUSABLE_TEXT, why)


def fault_of(context: Context | None, dataset: Dataset) -> Reason | None:
    """Say why nothing can be written for the dialogue."""
    if context is None:
        return Reason.UNKNOWN_CONTEXT
    if context.dataset_id != dataset.pk:
        return Reason.OTHER_DATASET
    return Reason.DROPPED_CONTEXT if context.review == Review.DROPPED else None


def sift(
    draft: Draft, existing: ExistingTexts, *, dataset: Dataset, now: dt.datetime
) -> GoodDraft | Refused | None:
    """Say whether a draft becomes a message, and take a slot if so; None if it is one already."""
    found = _sifted(draft, existing, dataset=dataset, now=now)
    return refused(draft.row.position, "", found) if isinstance(found, Reason) else found


def _sifted(
    draft: Draft, existing: ExistingTexts, *, dataset: Dataset, now: dt.datetime
) -> GoodDraft | Reason | None:
    row = draft.row
    context, writer = existing.contexts[draft.context.pk], existing.writers.get(row.author)
    if (fault := fault_of(context, dataset)) is not None:  # somebody dropped it meanwhile
        return fault
    if (texts := _texts_before(context, writer, existing)) is not None:
        return None if digest(row.text) in texts else Reason.HAD_CONTEXT
    if context.slots_left == existing.taken[context.pk]:
        return Reason.FULL_CONTEXT
    if writer is None:
        writer = _arrive(row.author, existing, dataset=dataset, now=now)
    if not _is_described(writer, row.background, existing):
        return Reason.OTHER_BACKGROUND
    existing.taken[context.pk] += 1
    return GoodDraft(draft, writer)


def _texts_before(
    context: Context, writer: Writer | None, existing: ExistingTexts
) -> Container[str | None] | None:
    """Return the hashes of what the writer wrote for the context, if it was the writer's."""
    if writer is None or writer.pk is None:
        return None
    return existing.had.get((context.pk, writer.pk))


def _arrive(name: str, existing: ExistingTexts, *, dataset: Dataset, now: dt.datetime) -> Writer:
    """Return a new writer, stored later with all others.

    A name that says "simulated" is believed.
    """
    writer = Writer(
        dataset=dataset,
        code=new_code("W"),
        state=WriterState.ELSEWHERE,
        imported_as=name,
        is_simulated="simulated" in name.lower(),
        invited_at=now,
    )
    existing.arrived.append(writer)
    existing.writers[name] = writer
    return writer


def _is_described(writer: Writer, background: str, existing: ExistingTexts) -> bool:
    """Say whether the writer has the background; one who had none yet gets it."""
    if background and not writer.background:
        writer.background = background
        if writer.pk is not None:
            existing.described.append(writer)
    return background in {"", writer.background}
