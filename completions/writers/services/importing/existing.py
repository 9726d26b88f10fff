"""The dialogues that a file names and its authors, as they are while nobody else changes them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.db.models import QuerySet

from completions.choices import WriterState
from completions.files import batches
from completions.models import Context, Dataset, Writer, WritingLease

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
