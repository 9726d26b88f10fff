"""Reads of the console's pages on the people who write."""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count, F, QuerySet

from completions.choices import MessageState, Review, WriterState
from completions.models import Completion, Context, Dataset, Message, Writer


@dataclass(frozen=True)
class DatasetRow:
    """One dataset with its pool, as the console lists it."""

    slug: str
    name: str
    is_frozen: bool
    n_writers: int
    n_waiting: int
    n_accepted: int
    n_wanted: int


def dataset_rows() -> list[DatasetRow]:
    """Return every dataset with the counts of its pool, in five queries."""
    people = Writer.objects.filter(state=WriterState.ACTIVE)
    waiting = Message.objects.filter(state=MessageState.WAITING)
    contexts = Context.objects.exclude(review=Review.DROPPED)
    n_writers, n_contexts = _by_dataset(people, "dataset"), _by_dataset(contexts, "dataset")
    n_waiting = _by_dataset(waiting, "lease__writer__dataset")
    n_accepted = _by_dataset(written(), "context__dataset")
    return [
        DatasetRow(
            slug=dataset.slug,
            name=dataset.name,
            is_frozen=dataset.frozen_at is not None,
            n_writers=n_writers[dataset.pk],
            n_waiting=n_waiting[dataset.pk],
            n_accepted=n_accepted[dataset.pk],
            n_wanted=n_contexts[dataset.pk] * dataset.completions_per_context,
        )
        for dataset in Dataset.objects.filter(is_for_checks=False).order_by("name", "pk")
    ]


def written() -> QuerySet[Completion]:
    """Return what people wrote for contexts in use, and did not have deleted."""
    written = Completion.objects.filter(writer__isnull=False, erased_at=None)
    return written.exclude(context__review=Review.DROPPED)


def _by_dataset(rows: QuerySet, dataset: str) -> Counter[int]:  # type: ignore[type-arg]
    counted = rows.order_by().values_list(F(dataset)).annotate(n=Count("pk"))
    return Counter(dict(counted))
