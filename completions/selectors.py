"""Reads of the completions app."""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.text import slugify

from completions.choices import WriterState
from completions.models import Context, Dataset, GenerationCall, Writer, WritingLease


class DatasetNotFoundError(LookupError):
    """No dataset has that name."""


@dataclass(frozen=True)
class Desk:
    """What a writer's desk shows."""

    n_written: int
    n_waiting: int


def dataset_by_slug(slug: str) -> Dataset | None:
    """Return the dataset, or None; the talks of quality checks are nobody's to work with."""
    return Dataset.objects.filter(slug=slug, is_for_checks=False).first()


def dataset_named(name: str) -> Dataset:
    """Return the dataset of that name or address.

    Raises
    ------
    DatasetNotFoundError
        If there is none.
    """
    dataset = dataset_by_slug(slugify(name))
    if dataset is None:
        msg = f'there is no dataset "{name}"; import one first'
        raise DatasetNotFoundError(msg)
    return dataset


def writer_by_code(code: str) -> Writer | None:
    """Return the writer of that pseudonym, with the dataset, or None."""
    return Writer.objects.select_related("dataset").filter(code=code).first()


def open_contexts(writer: Writer) -> QuerySet[Context]:
    """Return contexts in use that want a completion and that the writer never had before."""
    had = WritingLease.objects.filter(context=OuterRef("pk"), writer=writer)
    wanting = Context.objects.in_use().filter(dataset=writer.dataset_id, slots_left__gt=0)
    return wanting.filter(~Exists(had)).order_by("-slots_left", "key")


def open_writing_lease(writer: Writer) -> WritingLease | None:
    """Return the lease that the writer holds, with its context, or None."""
    return writer.leases.select_related("context").filter(closed_at=None).first()


def desk(writer: Writer) -> Desk:
    """Count what the writer has written, and what waits (an open draft included)."""
    held = writer.leases.filter(closed_at=None).count()
    return Desk(writer.completions.count(), open_contexts(writer).count() + held)


def is_writing(writer: Writer) -> bool:
    """Say whether the writer has agreed and may write."""
    return writer.state == WriterState.ACTIVE


def any_writer(dataset: Dataset) -> Writer | None:
    """Return the writer who was invited first, or None."""
    return dataset.writers.select_related("dataset").order_by("pk").first()


def generation_progress(dataset: Dataset) -> tuple[int, int]:
    """Return how many of the dataset's generation calls have ended, and how many there are."""
    calls = GenerationCall.objects.filter(context__dataset=dataset)
    return calls.filter(ended_at__isnull=False).count(), calls.count()
