"""Reads of the console: datasets, their contexts, and the order in which they are reviewed."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import Count, Q, QuerySet
from django.utils.text import Truncator

from access.console.table_query import read_query, write_query
from completions.choices import EscalationProfile, Review, Stratum
from completions.dialogues.normaliser import plain
from completions.models import Context, Dataset, Dialogue

PER_PAGE = 25
LISTED_WORDS = 22
NO_LABEL = "-"
"""How an address asks for dialogues without a label."""
IN_USE = "IN_USE"
"""How an address asks for all that nobody dropped."""


Row = TypeVar("Row")


class UnknownFilterError(ValueError):
    """An address filters by a value that does not exist."""


@dataclass(frozen=True)
class DatasetRow:
    """One dataset as the console lists it."""

    slug: str
    name: str
    licence: str
    is_authored: bool
    n_dialogues: int
    n_contexts: int
    n_reviewed: int
    n_dropped: int


@dataclass(frozen=True)
class ContextFilter:
    """Which contexts of a dataset are meant; an empty field means all."""

    review: str = ""
    stratum: str = ""
    emotion: str = ""
    problem: str = ""
    q: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "ContextFilter":
        """Read an address.

        Raises
        ------
        UnknownFilterError
            If the review or the stratum is none that exists.
        """
        found = read_query(cls, query)
        for value, known in (
            (found.review, {"", IN_USE, *Review.values}),
            (found.stratum, {"", *Stratum.values}),
        ):
            if value not in known:
                raise UnknownFilterError(value)
        return found

    @property
    def query(self) -> str:
        """The address' query that means this filter, without its question mark."""
        return write_query(asdict(self))

    def matches(self, review: str) -> bool:
        """Say whether a context with this review is meant, as far as reviews go."""
        if self.review == IN_USE:
            return review != Review.DROPPED
        return self.review in ("", review)

    def of_any_review(self) -> "ContextFilter":
        """Return the same filter, whatever people decided."""
        return replace(self, review="")

    def rows(self, dataset: Dataset) -> QuerySet[Context]:
        """Return the contexts in the order of every list: regular ones first, then by key."""
        labels = labelled(self.emotion, self.problem)
        if self.review == IN_USE:
            labels &= ~Q(review=Review.DROPPED)
        elif self.review:
            labels &= Q(review=self.review)
        if self.stratum:
            labels &= Q(stratum=self.stratum)
        if self.q:
            labels &= Q(key__icontains=self.q)
        return dataset.contexts.filter(labels).order_by("-stratum", "key")


@dataclass(frozen=True)
class ContextRow:
    """One context as the console lists it."""

    key: str
    is_adversarial: bool
    profile_label: str
    is_simulated: bool
    emotion: str
    problem: str
    n_turns: int
    review: str
    review_label: str
    note: str
    last: str


@dataclass(frozen=True)
class ListPage(Generic[Row]):
    """One page of a list; ``n`` counts the whole of it, ``start`` is the place of its first row."""

    rows: tuple[Row, ...]
    n: int
    start: int
    number: int
    n_pages: int

    @classmethod
    def of(cls, rows: Iterable[Row], page: Page[Any]) -> "ListPage[Row]":
        """Return what a page of the rows' sources shows."""
        paginator = page.paginator
        return cls(
            tuple(rows), paginator.count, page.start_index(), page.number, paginator.num_pages
        )

    @property
    def previous(self) -> int | None:
        """The number of the page before, if there is one."""
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        """The number of the page after, if there is one."""
        return self.number + 1 if self.number < self.n_pages else None


@dataclass(frozen=True)
class QueuePosition:
    """Where one context stands among those that its filter means."""

    n: int
    n_reviewed: int
    previous: str | None
    next: str | None
    after_decision: str | None
    """Where to go on once it is decided: the next not yet reviewed, from the start again."""


@dataclass(frozen=True)
class DatasetLabels:
    """The labels that a dataset's dialogues have, for its filters."""

    emotions: tuple[str, ...]
    problems: tuple[str, ...]


def dataset_rows() -> list[DatasetRow]:
    """Return every dataset with its counts, in three queries."""
    dialogues = Counter(
        dict(Dialogue.objects.order_by().values_list("dataset").annotate(n=Count("pk")))
    )
    reviews = Counter[tuple[int, str]]()
    for dataset, review, n in (
        Context.objects.order_by().values_list("dataset", "review").annotate(n=Count("pk"))
    ):
        reviews[dataset, review] = n
    return [
        _dataset_row(
            dataset, dialogues[dataset.pk], {one: reviews[dataset.pk, one] for one in Review}
        )
        for dataset in Dataset.objects.filter(is_for_checks=False).order_by("name", "pk")
    ]


def labels(dataset: Dataset) -> DatasetLabels:
    """Return the dataset's labels, in one query."""
    pairs = list(
        dataset.dialogues.order_by().values_list("emotion_type", "problem_type").distinct()
    )
    return DatasetLabels(
        tuple(sorted({emotion or NO_LABEL for emotion, _ in pairs})),
        tuple(sorted({problem or NO_LABEL for _, problem in pairs})),
    )


def context_page(dataset: Dataset, filters: ContextFilter, *, page: str) -> ListPage[ContextRow]:
    """Return a page of the contexts that are meant, in two queries."""
    rows = filters.rows(dataset).select_related("dialogue")
    found = Paginator(rows, PER_PAGE).get_page(page)
    return ListPage.of(map(_context_row, found.object_list), found)


def queue(dataset: Dataset, filters: ContextFilter, *, key: str) -> QueuePosition:
    """Say what stands before and after a context, in one query.

    Whoever reads the contexts that wait, or all, goes on to one that waits; whoever goes
    through decisions that were made goes on to the next of these.
    """
    rows = list(filters.of_any_review().rows(dataset).values_list("key", "review"))
    place = next((at for at, (one, _) in enumerate(rows) if one == key), -1)
    before = [one for one, review in rows[: max(place, 0)] if filters.matches(review)]
    after = [one for one, review in rows[place + 1 :] if filters.matches(review)]
    round_again = [*rows[place + 1 :], *rows[: max(place, 0)]]
    waiting = [one for one, review in round_again if review == Review.PENDING]
    onwards = after if filters.review in (Review.KEPT, Review.DROPPED) else waiting
    return QueuePosition(
        n=len(rows),
        n_reviewed=sum(review != Review.PENDING for _, review in rows),
        previous=before[-1] if before else None,
        next=after[0] if after else None,
        after_decision=onwards[0] if onwards else None,
    )


def context_of_key(dataset: Dataset, key: str) -> Context | None:
    """Return the dataset's context of that key, or None."""
    return dataset.contexts.filter(key=key).first()


def labelled(emotion: str, problem: str) -> Q:
    """Return the condition that a row's dialogue has these labels; an empty one asks nothing."""
    labels = {"dialogue__emotion_type": emotion, "dialogue__problem_type": problem}
    return Q(
        **{name: "" if label == NO_LABEL else label for name, label in labels.items() if label}
    )


def beginning(text: str) -> str:
    """Return how a message begins, as people see it."""
    return Truncator(plain(text)).words(LISTED_WORDS)


def _dataset_row(dataset: Dataset, n_dialogues: int, reviews: Mapping[str, int]) -> DatasetRow:
    return DatasetRow(
        slug=dataset.slug,
        name=dataset.name,
        licence=dataset.licence,
        is_authored=dataset.is_authored,
        n_dialogues=n_dialogues,
        n_contexts=sum(reviews.values()),
        n_reviewed=reviews[Review.KEPT] + reviews[Review.DROPPED],
        n_dropped=reviews[Review.DROPPED],
    )


def _context_row(context: Context) -> ContextRow:
    profile = context.escalation_profile
    return ContextRow(
        key=context.key,
        is_adversarial=context.stratum == Stratum.ADVERSARIAL,
        profile_label=str(EscalationProfile(profile).label) if profile else "",
        is_simulated=context.is_simulated,
        emotion=context.dialogue.emotion_type,
        problem=context.dialogue.problem_type,
        n_turns=len(context.turns),
        review=context.review,
        review_label=str(Review(context.review).label),
        note=context.review_note,
        last=beginning(context.turns[-1]["text"] if context.turns else ""),
    )
