"""The coverage map: which contexts have a completion of which system, counted in SQL."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from access.console.tables import Table, TableQuery
from completions.choices import CallState
from completions.leaks.queries import WITHHELD
from completions.models import Completion, Context, Dataset, GenerationCall, System

ON_PAGE = 25
AT_ONCE = 500
"""Contexts of a download that are read together."""
THERE, HELD, RUNNING, FAILED, MISSING = "there", "held", "running", "failed", "missing"
STATES: Mapping[str, object] = {
    THERE: _("there"),
    HELD: _("held back"),
    RUNNING: _("under way"),
    FAILED: _("failed"),
    MISSING: _("missing"),
}
BAD = (CallState.FAILED, CallState.INVALID)
OPEN = (CallState.PENDING, CallState.CLAIMED)


class UnknownCoverageError(ValueError):
    """The address asks for a state or a system that does not exist."""


COVERAGE = Table(
    orders={
        "context": (_("Context"), ("key",)),
        "there": (_("There"), ("n_there", "key")),
    },
    usual="context",
    numbers=("there",),
)


@dataclass
class Cell:
    """What there is of one system in one context; ``n`` counts completions that may be paired."""

    system: str
    n: int = 0
    n_held: int = 0
    call: str = ""

    @property
    def state(self) -> str:
        """What comes first of these."""
        if self.n:
            return THERE
        if self.n_held:
            return HELD
        if self.call in OPEN:
            return RUNNING
        return FAILED if self.call in BAD else MISSING

    @property
    def label(self) -> object:
        """The state in words."""
        return STATES[self.state]


def coverage(dataset: Dataset, query: TableQuery, number: str) -> dict[str, Any]:
    """Return what one page of the map shows, in nine queries.

    ``rows`` are contexts with their ``n_there``, each with its cells in the order of ``systems``;
    ``totals`` are the states with their labels and the numbers of all contexts, system by system.

    Raises
    ------
    UnknownCoverageError
        If there is no such state, or no system of that name has to do with the dataset.
    """
    there = _there(dataset)
    systems = _systems(dataset, there)
    meant = _meant(systems, query)
    contexts = Context.objects.in_use().filter(dataset=dataset)
    n_contexts = contexts.count()
    page = Paginator(_listed(contexts, query, meant), ON_PAGE).get_page(number)
    rows = list(_rows(list(page), meant))
    counts = list(_counts(dataset, meant, n_contexts, there))
    return {
        "page": page,
        "rows": rows,
        "systems": meant,
        "all_systems": systems,
        "n_contexts": n_contexts,
        "n_failed": sum(each[FAILED] for each in counts),
        "totals": [
            (state, label, [each[state] for each in counts]) for state, label in STATES.items()
        ],
    }


CellRow = tuple[str, str, str, int]


def all_rows(dataset: Dataset, query: TableQuery) -> tuple[list[System], Iterator[CellRow]]:
    """Return the systems meant, and context, system, state and number of texts of every cell.

    Nothing but the systems is read before the first is asked for; then some contexts at a time.

    Raises
    ------
    UnknownCoverageError
        As the page.
    """
    meant = _meant(_systems(dataset, _there(dataset)), query)
    contexts = Context.objects.in_use().filter(dataset=dataset)
    return meant, _cells(_listed(contexts, query, meant), meant)


def _cells(contexts: QuerySet[Context], systems: Sequence[System]) -> Iterator[CellRow]:
    keys = contexts.values_list("pk", flat=True)
    rest = iter(keys)
    while some := list(islice(rest, AT_ONCE)):
        found = Context.objects.in_bulk(some)
        for context, cells in _rows([found[pk] for pk in some if pk in found], systems):
            for cell in cells:
                yield context.key, cell.system, cell.state, cell.n


def _rows(
    contexts: Sequence[Context], systems: Sequence[System]
) -> Iterator[tuple[Context, list[Cell]]]:
    """Yield contexts with their cells in the order of the systems, in two queries."""
    grid = {(context.pk, one.pk): Cell(one.slug) for context in contexts for one in systems}
    of_both = {"context__in": contexts, "system__in": systems}
    texts = Completion.objects.filter(erased_at=None, **of_both)
    for context, system, hold in texts.values_list("context", "system", "hold__state"):
        if hold in WITHHELD:
            grid[context, system].n_held += 1
        else:
            grid[context, system].n += 1
    calls = GenerationCall.objects.filter(**of_both)
    for context, system, state in calls.values_list("context", "system", "state"):
        grid[context, system].call = state
    for one in contexts:
        yield one, [grid[one.pk, system.pk] for system in systems]


def cell_details(dataset: Dataset, *, context: str, system: str) -> dict[str, Any] | None:
    """Return one cell with its texts and its call, or None without such a context or system."""
    place = Context.objects.filter(dataset=dataset, key=context).first()
    chosen = System.objects.filter(slug=system).first()
    if place is None or chosen is None:
        return None
    texts = Completion.objects.filter(context=place, system=chosen)
    call = GenerationCall.objects.filter(context=place, system=chosen).first()
    ((_place, (cell,)),) = _rows([place], [chosen])
    return {
        "cell": cell,
        "context": place.key,
        "system_name": chosen.name,
        "texts": texts.select_related("hold", "brought").order_by("pk"),
        "call": call,
        "can_be_retried": call is not None and call.state in BAD and call.run_id is not None,
    }


def _there(dataset: Dataset) -> dict[int, int]:
    """Return the systems with any text, by key, and in how many contexts in use one may be paired.

    One look at the texts tells both.
    """
    is_in_use = Q(context__in=Context.objects.in_use().filter(dataset=dataset), erased_at=None)
    is_fit = is_in_use & (Q(hold=None) | ~Q(hold__state__in=WITHHELD))
    texts = Completion.objects.filter(context__dataset=dataset).order_by().values_list("system")
    return dict(texts.annotate(n=Count("context", distinct=True, filter=is_fit)))


def _systems(dataset: Dataset, wrote: Collection[int]) -> list[System]:
    """Return the systems that completed a context of the dataset, or were asked to."""
    # A list of few keys: asked of each system by itself, the database reads all calls of many.
    called = GenerationCall.objects.filter(context__dataset=dataset).values("system")
    return list(System.objects.filter(Q(pk__in=wrote) | Q(pk__in=called)).order_by("name"))


def _meant(systems: Sequence[System], query: TableQuery) -> list[System]:
    state, slug = query.others["state"], query.others["system"]
    meant = [system for system in systems if slug in {"", system.slug}]
    if (slug and not meant) or state not in {"", *STATES}:
        raise UnknownCoverageError(query)
    return meant


def _listed(
    contexts: QuerySet[Context], query: TableQuery, systems: Collection[System]
) -> QuerySet[Context]:
    """Return the contexts in which a system meant is in the state asked for, in their order."""
    pks = [system.pk for system in systems]
    texts = Completion.objects.filter(context=OuterRef("pk"), system__in=pks, erased_at=None)
    fit = texts.exclude(hold__state__in=WITHHELD)
    calls = GenerationCall.objects.filter(context=OuterRef("pk"), system__in=pks, completion=None)
    found = contexts.annotate(
        n_there=_n_systems(fit),
        n_known=_n_systems(texts) + _n_systems(_without_text(calls)),
    )
    there_too = fit.filter(system=OuterRef("system"), context=OuterRef("context"))
    states = {
        "": Q(),
        THERE: Q(Exists(fit)),
        HELD: Q(Exists(texts.filter(~Exists(there_too), hold__state__in=WITHHELD))),
        RUNNING: Q(Exists(_without_text(calls).filter(state__in=OPEN))),
        FAILED: Q(Exists(_without_text(calls).filter(state__in=BAD))),
        MISSING: Q(n_known__lt=len(pks)),
    }
    return found.filter(states[query.others["state"]]).order_by(*query.order)


def _without_text(calls: QuerySet[GenerationCall]) -> QuerySet[GenerationCall]:
    """Leave out calls of cells that have a text all the same."""
    texts = Completion.objects.filter(
        context=OuterRef("context"), system=OuterRef("system"), erased_at=None
    )
    return calls.filter(~Exists(texts))


def _n_systems(rows: QuerySet[Any]) -> Coalesce:
    """Return, as a part of another query, how many systems are in the rows of a context."""
    counted = (
        rows.order_by().values("context").annotate(n=Count("system", distinct=True)).values("n")
    )
    return Coalesce(Subquery(counted, output_field=IntegerField()), Value(0))


def _counts(
    dataset: Dataset, systems: Sequence[System], n_contexts: int, there: Mapping[int, int]
) -> Iterator[dict[str, int]]:
    """Yield in how many contexts in use each system is in which state, in two queries."""
    in_use = Context.objects.in_use().filter(dataset=dataset)
    texts = Completion.objects.filter(context__in=in_use, erased_at=None)
    same = texts.filter(context=OuterRef("context"), system=OuterRef("system"))
    fit = same.exclude(hold__state__in=WITHHELD)
    without = texts.filter(~Exists(fit), hold__state__in=WITHHELD).order_by().values_list("system")
    held = dict(without.annotate(n=Count("context", distinct=True)))
    calls = Counter[tuple[int, bool]]()
    waiting = _without_text(GenerationCall.objects.filter(context__in=in_use, completion=None))
    rows = waiting.order_by().values_list("system", "state").annotate(n=Count("pk"))
    for system, state, n in rows:
        calls[system, state in BAD] += n
    for system in systems:
        counts = {
            THERE: there.get(system.pk, 0),
            HELD: held.get(system.pk, 0),
            RUNNING: calls[system.pk, False],
            FAILED: calls[system.pk, True],
        }
        counts[MISSING] = n_contexts - sum(counts.values())
        yield counts
