"""Check and flag texts before anything is locked, against others of the author and context."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from completions.choices import SystemKind
from completions.files import Reason, Refused, batches, once, refused
from completions.models import Completion, Context, Dataset, MessageRevision
from completions.writers.importing import WrittenRow
from completions.writers.near_duplicates import MIN_SHARED, ComparedWords
from completions.writers.services.flagging import Source, Texts, flags_among
from completions.writers.services.importing.sifting import Draft, contexts_by_key, fault_of, usable

MOST_PLACES = 200
"""Of a run of words that stands in more texts, the first so many are enough to be found by."""
MOST_NEAR = 20

Text: TypeAlias = tuple[Source, str]


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
