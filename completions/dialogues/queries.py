"""Reads of datasets and the language of their dialogues."""

from typing import Any, TypeVar

from django.db.models import Count, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.text import slugify

from completions.dialogues.display import UNDETERMINED
from completions.models import Dataset, Dialogue

Row = TypeVar("Row", bound=Model)
LONG = ("turns", "situation", "source_labels")
"""What is not read of a dialogue whose language alone is wanted."""


class DatasetNotFoundError(LookupError):
    """No dataset has that name."""


def dataset_by_slug(slug: str) -> Dataset | None:
    """Return the dataset, or None; the dialogues of quality checks are nobody's to work with."""
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


def n_of_dataset(rows: QuerySet[Any], dataset: str = "dataset") -> Coalesce:
    """Return, as a part of a query of datasets, how many of the rows each has.

    Do not count rows that are joined beside it: Django groups by this part as well, so the
    database would count anew for each of them.
    """
    of_dataset = rows.filter(**{dataset: OuterRef("pk")}).order_by().values(dataset)
    return Coalesce(Subquery(of_dataset.annotate(n=Count("pk")).values("n")), 0)


def with_language(rows: QuerySet[Row], context: str) -> QuerySet[Row]:
    """Join the dialogue of the context that ``context`` leads to, for its language alone."""
    dialogue = f"{context}__dialogue"
    return rows.select_related(dialogue).defer(*(f"{dialogue}__{name}" for name in LONG))


def language_of(dataset_id: int) -> str:
    """Return the one language of a dataset's dialogues, or ``und`` where they have several."""
    dialogues = Dialogue.objects.filter(dataset=dataset_id)
    tags = dialogues.order_by().values_list("language", flat=True).distinct()[:2]
    return tags[0] if len(tags) == 1 else UNDETERMINED
