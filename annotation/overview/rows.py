"""Reads of a study's comparisons and judgments, row by row, filtered and sorted in SQL."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from access.console.tables import Table, TableQuery
from annotation.choices import Purpose
from annotation.models import Comparison, Judgment, Lease, Study
from annotation.overview import queries
from annotation.overview.queries import JudgmentRow
from annotation.studies import selectors
from annotation.studies.counts import StudyCounts

ON_PAGE = 50
COMPARISONS = Table(
    orders={
        "key": (_("Comparison"), ("key",)),
        "context": (_("Context"), ("context__key",)),
        "first": (_("First"), ("first__system__slug",)),
        "second": (_("Second"), ("second__system__slug",)),
        "left": (_("Slots left"), ("slots_left",)),
    },
    usual="context",
    shows={
        "open": (
            _("With slots left"),
            Q(selectors.INTACT, purpose=Purpose.MAIN, slots_left__gt=0),
        ),
        "done": (_("With no slot left"), Q(purpose=Purpose.MAIN, slots_left=0)),
        "leased": (
            _("On a screen now"),
            Q(Exists(Lease.objects.filter(comparison=OuterRef("pk"), closed_at=None))),
        ),
        "held": (_("Held by reports"), Q(held_at__isnull=False)),
        "planted": (_("Planted pairs"), ~Q(purpose=Purpose.MAIN)),
    },
    numbers=("left",),
)
"""Comparisons; a search is for a context, a system or a comparison's key."""
JUDGMENTS = Table(
    orders={
        "at": (_("When"), ("submitted_at",)),
        "who": (_("Who"), ("rater__code", "judge__slug")),
        "context": (_("Context"), ("comparison__context__key",)),
    },
    usual="-at",
    shows={
        "people": (_("By people"), Q(rater__isnull=False, revises__isnull=True)),
        "judges": (_("By judges"), Q(judge__isnull=False, revises__isnull=True)),
        "changed": (_("Changed answers"), Q(revises__isnull=False)),
        "surplus": (_("Surplus"), Q(is_surplus=True)),
    },
)
"""Judgments; a search is for a rater, a judge, a context or a comparison's key."""

KNOWN: Mapping[str, Callable[[StudyCounts], int]] = {
    "": lambda counts: counts.n_judgments,
    "people": lambda counts: counts.tally.by_people,
    "judges": lambda counts: counts.tally.by_judges,
}
"""Judgments whose number is counted with the study."""


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


def comparisons(study: Study, query: TableQuery) -> QuerySet[Comparison]:
    """Return the comparisons meant, in the order meant; planted ones only if they are asked for."""
    found = query.choose(Comparison.objects.filter(study=study))
    if not query.show:
        found = found.filter(purpose=Purpose.MAIN)
    if query.q:
        found = found.filter(
            Q(key=query.q)
            | Q(context__key=query.q)
            | Q(first__system__slug=query.q)
            | Q(second__system__slug=query.q)
        )
    related = ("context", "first__system", "second__system")
    return found.select_related(*related).order_by(*query.indexed_order)


def comparison_page(
    study: Study, query: TableQuery, number: str
) -> tuple[Page[Comparison], list[ComparisonRow]]:
    """Return one page of the comparisons, in three queries."""
    page = Paginator(comparisons(study, query), ON_PAGE).get_page(number)
    said = _said(Judgment.objects.filter(comparison__in=[one.pk for one in page]))
    return page, [_comparison(one, said[one.pk]) for one in page]


def all_comparisons(study: Study, query: TableQuery) -> Iterator[ComparisonRow]:
    """Yield all of the comparisons meant, in two queries."""
    said = _said(Judgment.objects.filter(comparison__study=study))
    for one in comparisons(study, query).iterator(chunk_size=1000):
        yield _comparison(one, said[one.pk])


def judgments(study: Study, query: TableQuery) -> QuerySet[Judgment]:
    """Return the judgments meant, in the order meant."""
    found = query.choose(Judgment.objects.filter(comparison__study=study))
    if query.q:
        found = found.filter(
            Q(rater__code=query.q)
            | Q(judge__slug=query.q)
            | Q(comparison__key=query.q)
            | Q(comparison__context__key=query.q)
        )
    return found.order_by(*query.indexed_order)


def judgment_page(
    study: Study, query: TableQuery, number: str, counts: StudyCounts | None = None
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


def all_judgments(study: Study, query: TableQuery) -> Iterator[ListedJudgment]:
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
