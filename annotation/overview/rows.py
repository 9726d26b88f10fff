"""Reads of a study's comparisons and judgments, row by row, filtered and sorted in SQL."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from access.console.table_query import read_query
from annotation.choices import Purpose
from annotation.models import Comparison, Judgment, Lease, Study
from annotation.overview import queries
from annotation.overview.queries import JudgmentRow
from annotation.studies import selectors
from annotation.studies.counts import StudyCounts
from completions.sorted_tables import Head, SortedTable

ON_PAGE = 50
COMPARISONS: Mapping[str, object] = {
    "open": _("With slots left"),
    "done": _("With no slot left"),
    "leased": _("On a screen now"),
    "held": _("Held by reports"),
    "planted": _("Planted pairs"),
}
JUDGMENTS: Mapping[str, object] = {
    "people": _("By people"),
    "judges": _("By judges"),
    "changed": _("Changed answers"),
    "surplus": _("Surplus"),
}

KNOWN: Mapping[str, Callable[[StudyCounts], int]] = {
    "": lambda counts: counts.n_judgments,
    "people": lambda counts: counts.tally.by_people,
    "judges": lambda counts: counts.tally.by_judges,
}
"""Judgments whose number is counted with the study."""

Query = TypeVar("Query", bound="RowsQuery")


class UnknownRowsError(ValueError):
    """The address asks for rows or an order that do not exist."""


def _head(label: object) -> Head:
    return label, str


@dataclass(frozen=True)
class RowsQuery(SortedTable[Any]):
    """Which rows are meant, in which order; ``SHOWS`` are the choices, ``ORDER`` the columns."""

    SHOWS: ClassVar[Mapping[str, object]]
    ORDER: ClassVar[Mapping[str, Sequence[str]]]

    sort: str = ""
    show: str = ""
    q: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """Read an address.

        Raises
        ------
        UnknownRowsError
            If the choice or the order is none that exists.
        """
        found = read_query(cls, query)
        if found.show not in {"", *cls.SHOWS} or not found.is_sortable:
            raise UnknownRowsError(found)
        return found

    @property
    def fields(self) -> list[str]:
        """The order as the database takes it; equals keep the order in which they were made."""
        sign = "-" if self.sort.startswith("-") else ""
        return [f"{sign}{name}" for name in (*self.ORDER[self.sort.removeprefix("-")], "pk")]


@dataclass(frozen=True)
class ComparisonsQuery(RowsQuery):
    """Which comparisons are meant; ``q`` is a context, a system or a comparison's key."""

    COLUMNS: ClassVar[Mapping[str, Head]] = {
        "key": _head(_("Comparison")),
        "context": _head(_("Context")),
        "first": _head(_("First")),
        "second": _head(_("Second")),
        "left": _head(_("Slots left")),
    }
    NUMBERS: ClassVar[Collection[str]] = ("left",)
    SHOWS: ClassVar[Mapping[str, object]] = COMPARISONS
    ORDER: ClassVar[Mapping[str, Sequence[str]]] = {
        "key": ("key",),
        "context": ("context__key",),
        "first": ("first__system__slug",),
        "second": ("second__system__slug",),
        "left": ("slots_left",),
    }

    sort: str = "context"


@dataclass(frozen=True)
class JudgmentsQuery(RowsQuery):
    """Which judgments are meant; ``q`` is a rater, a judge, a context or a comparison's key."""

    COLUMNS: ClassVar[Mapping[str, Head]] = {
        "at": _head(_("When")),
        "who": _head(_("Who")),
        "context": _head(_("Context")),
    }
    SHOWS: ClassVar[Mapping[str, object]] = JUDGMENTS
    ORDER: ClassVar[Mapping[str, Sequence[str]]] = {
        "at": ("submitted_at",),
        "who": ("rater__code", "judge__slug"),
        "context": ("comparison__context__key",),
    }

    sort: str = "-at"


@dataclass(frozen=True)
class ComparisonRow:
    """A comparison with what was said of it so far, counted."""

    key: str
    context: str
    first: str
    second: str
    purpose: str
    by_people: int
    by_judges: int
    slots_left: int
    is_held: bool


@dataclass(frozen=True)
class ListedJudgment:
    """A judgment, and the pair that it is about."""

    key: str
    context: str
    row: JudgmentRow


def comparisons(study: Study, query: ComparisonsQuery) -> QuerySet[Comparison]:
    """Return the comparisons meant, in the order meant; planted ones only if they are asked for."""
    found = Comparison.objects.filter(study=study)
    leased = Exists(Lease.objects.filter(comparison=OuterRef("pk"), closed_at=None))
    shows = {
        "": Q(purpose=Purpose.MAIN),
        "open": Q(selectors.INTACT, purpose=Purpose.MAIN, slots_left__gt=0),
        "done": Q(purpose=Purpose.MAIN, slots_left=0),
        "leased": Q(leased),
        "held": Q(held_at__isnull=False),
        "planted": ~Q(purpose=Purpose.MAIN),
    }
    found = found.filter(shows[query.show])
    if query.q:
        found = found.filter(
            Q(key=query.q)
            | Q(context__key=query.q)
            | Q(first__system__slug=query.q)
            | Q(second__system__slug=query.q)
        )
    related = ("context", "first__system", "second__system")
    return found.select_related(*related).order_by(*query.fields)


def comparison_page(
    study: Study, query: ComparisonsQuery, number: str
) -> tuple[Page[Comparison], list[ComparisonRow]]:
    """Return one page of the comparisons, in three queries."""
    page = Paginator(comparisons(study, query), ON_PAGE).get_page(number)
    said = _said(Judgment.objects.filter(comparison__in=[one.pk for one in page]))
    return page, [_comparison(one, said[one.pk]) for one in page]


def all_comparisons(study: Study, query: ComparisonsQuery) -> Iterator[ComparisonRow]:
    """Yield all of the comparisons meant, in two queries."""
    said = _said(Judgment.objects.filter(comparison__study=study))
    for one in comparisons(study, query).iterator(chunk_size=1000):
        yield _comparison(one, said[one.pk])


def judgments(study: Study, query: JudgmentsQuery) -> QuerySet[Judgment]:
    """Return the judgments meant, in the order meant."""
    shows = {
        "": Q(),
        "people": Q(rater__isnull=False, revises__isnull=True),
        "judges": Q(judge__isnull=False, revises__isnull=True),
        "changed": Q(revises__isnull=False),
        "surplus": Q(is_surplus=True),
    }
    found = Judgment.objects.filter(shows[query.show], comparison__study=study)
    if query.q:
        found = found.filter(
            Q(rater__code=query.q)
            | Q(judge__slug=query.q)
            | Q(comparison__key=query.q)
            | Q(comparison__context__key=query.q)
        )
    return found.order_by(*query.fields)


def judgment_page(
    study: Study, query: JudgmentsQuery, number: str, counts: StudyCounts | None = None
) -> tuple[Page[int], list[ListedJudgment]]:
    """Return one page of the judgments, in four queries.

    ``counts`` may be given of a large study: then nobody counts all of its judgments for a page.
    """
    # The keys are sorted, and texts come for those of the page alone: whole rows sort slowly.
    found = Paginator(judgments(study, query).values_list("pk", flat=True), ON_PAGE)
    if counts is not None and not query.q and query.show in KNOWN:
        found.count = KNOWN[query.show](counts)
    page = found.get_page(number)
    rows = _with_pairs(Judgment.objects.filter(pk__in=list(page))).in_bulk()
    return page, [_judgment(rows[pk]) for pk in page if pk in rows]


def all_judgments(study: Study, query: JudgmentsQuery) -> Iterator[ListedJudgment]:
    """Yield all of the judgments meant; memory stays flat."""
    for one in _with_pairs(judgments(study, query)).iterator(chunk_size=1000):
        yield _judgment(one)


def _with_pairs(found: QuerySet[Judgment]) -> QuerySet[Judgment]:
    pair = ("context", "study", "first__system", "second__system")
    related = (f"comparison__{one}" for one in pair)
    return found.select_related("rater", "judge", *related).prefetch_related("marks")


def _said(given: QuerySet[Judgment]) -> defaultdict[int, tuple[int, int]]:
    """Count the judgments of each comparison by people and by judges, changed ones once."""
    rows = (
        given.filter(revises__isnull=True)
        .order_by()
        .values_list("comparison")
        .annotate(people=Count("rater"), judges=Count("judge"))
    )
    found = defaultdict[int, tuple[int, int]](lambda: (0, 0))
    found.update({pk: (people, judges) for pk, people, judges in rows})
    return found


def _comparison(one: Comparison, said: tuple[int, int]) -> ComparisonRow:
    return ComparisonRow(
        key=one.key,
        context=one.context.key,
        first=one.first.system.name,
        second=one.second.system.name if one.second else "",
        purpose=Purpose(one.purpose).label,
        by_people=said[0],
        by_judges=said[1],
        slots_left=one.slots_left,
        is_held=one.held_at is not None,
    )


def _judgment(one: Judgment) -> ListedJudgment:
    comparison = one.comparison
    row = queries.judgment_row(one)
    return ListedJudgment(comparison.key, comparison.context.key, row)
