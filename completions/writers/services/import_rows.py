"""The rows of a file of messages: checked and flagged, then held against what is stored.

Flags come before anything is locked; which rows become messages is said under the locks.
"""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from django.db.models import QuerySet

from completions.choices import Review, SystemKind, WriterState
from completions.dialogues import wording
from completions.dialogues.context_extraction import digest
from completions.files.refusals import Reason, Refused, refused
from completions.files.rows import batches, once
from completions.models import (
    Completion,
    Context,
    Dataset,
    MessageRevision,
    Writer,
    WritingLease,
)
from completions.writers.credentials import new_code
from completions.writers.importing import WrittenRow
from completions.writers.near_duplicates import MIN_SHARED, ComparedWords
from completions.writers.queries import Source
from completions.writers.services.flagging import Flag, Texts, flags_among

MOST_PLACES = 200
"""Of a run of words that stands in more texts, the first so many are enough to be found by."""
MOST_NEAR = 20

Text: TypeAlias = tuple[Source, str]


@dataclass(frozen=True)
class Draft:
    """A row that can be used as far as it goes, with what a reviewer should look at."""

    row: WrittenRow
    context: Context
    flags: Sequence[Flag] = ()


class Shelf:
    """Texts of one author; those that may be like another are found without reading them all."""

    def __init__(self) -> None:
        self._texts: list[Text] = []
        self._of_words: dict[tuple[str, ...], int] = {}
        self._of_shingle: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)

    def add(self, source: Source, text: str) -> None:
        """Put a text on the shelf, unless one of the same words is there."""
        words, number = ComparedWords.of(text), len(self._texts)
        if self._of_words.setdefault(words.words, number) != number:
            return
        self._texts.append((source, text))
        for shingle in words.shingles:
            if len(places := self._of_shingle[shingle]) < MOST_PLACES:
                places.append(number)

    def near(self, text: str) -> Iterator[Text]:
        """Yield the texts that share as much with ``text`` as near-duplicates do."""
        words = ComparedWords.of(text)
        shared = Counter(
            number for shingle in words.shingles for number in self._of_shingle.get(shingle, ())
        )
        found = [number for number, n in shared.most_common(MOST_NEAR) if n >= MIN_SHARED]
        same = self._of_words.get(words.words)
        for number in dict.fromkeys([*found, *([] if same is None else [same])]):
            yield self._texts[number]


class Library:
    """All that the rows of a file are compared with, the rows before them included."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._shelves: dict[str, Shelf] = {}
        self._for_context: dict[str, list[tuple[str, Text]]] = {}

    def fetch(self, rows: Sequence[WrittenRow]) -> None:
        """Read what is stored of the authors and dialogues of some rows, if not read yet."""
        names = {row.author for row in rows} - self._shelves.keys()
        self._shelves |= {name: Shelf() for name in names}
        for name, pk, text in _texts_of_authors(self._dataset, names):
            self._shelves[name].add(("message", pk), text)
        keys = {row.context for row in rows} - self._for_context.keys()
        self._for_context |= {key: [] for key in keys}
        for key, name, source, text in _texts_for_contexts(keys):
            self._for_context[key].append((name, (source, text)))

    def compared(self, row: WrittenRow) -> dict[str, Texts]:
        """Return the texts by whose they are."""
        others = self._for_context[row.context]
        return {
            "own": self._shelves[row.author].near(row.text),
            "another": (text for name, text in others if name != row.author),
        }

    def add(self, row: WrittenRow) -> None:
        """Let the rows that follow be compared with this one."""
        source = ("row", row.position)
        self._shelves[row.author].add(source, row.text)
        self._for_context[row.context].append((row.author, (source, row.text)))


def _texts_of_authors(dataset: Dataset, names: set[str]) -> Iterator[tuple[str, int, str]]:
    sent = MessageRevision.objects.filter(
        message__lease__writer__dataset=dataset,
        message__lease__writer__imported_as__in=names,
        erased_at=None,
    )
    columns = ("message__lease__writer__imported_as", "message", "text")
    yield from sent.order_by("pk").values_list(*columns)


def _texts_for_contexts(keys: set[str]) -> Iterator[tuple[str, str, Source, str]]:
    """Yield what people and models wrote; a name is that of a file's author, or empty."""
    contexts = Context.objects.filter(key__in=keys)
    sent = MessageRevision.objects.filter(message__lease__context__in=contexts, erased_at=None)
    columns = (
        "message__lease__context__key",
        "message__lease__writer__imported_as",
        "message",
        "text",
    )
    for key, name, pk, text in sent.order_by("pk").values_list(*columns):
        yield key, name, ("message", pk), text
    models = Completion.objects.filter(context__in=contexts, writer=None)
    models = models.exclude(system__kind=SystemKind.ORIGINAL).order_by("pk")
    for key, pk, text in models.values_list("context__key", "pk", "text"):
        yield key, "", ("completion", pk), text


def draft_rows(
    dataset: Dataset, rows: Iterable[WrittenRow | Refused], *, now: dt.datetime
) -> Iterator[Draft | Refused]:
    """Yield each row with its flags, or refused if its text, time or dialogue is no good."""
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


def contexts_by_key(keys: Iterable[str]) -> dict[str, Context]:
    """Return the contexts of any dataset that have one of these keys, with their dialogues."""
    found = dict[str, Context]()
    for batch in batches(sorted(set(keys))):
        rows = Context.objects.select_related("dialogue").filter(key__in=batch)
        found |= {context.key: context for context in rows}
    return found


TextsHad = Mapping[tuple[int, int], set[str | None]]


@dataclass
class ExistingTexts:
    """What rows are held against; ``had`` has hashes of texts by context and writer."""

    contexts: Mapping[int, Context]
    writers: dict[str, Writer]
    had: TextsHad
    arrived: list[Writer] = field(default_factory=list)
    described: list[Writer] = field(default_factory=list)
    taken: dict[int, int] = field(default_factory=lambda: defaultdict(int))


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
        had=_texts_had(dataset),
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


def _texts_had(dataset: Dataset) -> TextsHad:
    leases = WritingLease.objects.filter(
        writer__dataset=dataset, writer__state=WriterState.ELSEWHERE
    )
    had = defaultdict[tuple[int, int], set[str | None]](set)
    for context, writer, text in leases.values_list(
        "context", "writer", "message__revisions__content_hash"
    ):
        had[context, writer].add(text)
    return had


def sift(
    draft: Draft, existing: ExistingTexts, *, dataset: Dataset, now: dt.datetime
) -> Writer | Reason | None:
    """Take a slot for a draft that becomes a message, and return whose; None if it is one already.

    A draft that becomes none is refused for the reason that is returned.
    """
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
    return writer


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
