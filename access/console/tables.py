"""Tables of rows: chosen, searched, ordered and paged by the database, and downloaded as asked.

A table is a ``Table``; what an address asks of it is a ``TableQuery``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import F, Model, Q, QuerySet
from django.http import Http404, HttpRequest, StreamingHttpResponse

from access.console.csv_cells import Cell, csv_lines
from access.console.table_query import Column, read_text, sort_after_click, write_query

PER_PAGE = 50
LONGEST = 60  # characters of a search
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Table:
    """How a table may be asked for.

    ``orders`` names each column that sorts, with its label and the fields behind it; ``shows``
    each choice of rows, with its label and its condition; ``searched`` are the fields in which a
    search looks, ``usual`` is the order where none is asked for, and ``numbers`` are the columns
    that hold some.
    """

    orders: Mapping[str, tuple[object, Sequence[str]]]
    usual: str
    shows: Mapping[str, tuple[object, Q]] = field(default_factory=dict)
    searched: Sequence[str] = ()
    numbers: Sequence[str] = ()

    def asked(self, request: HttpRequest, **others: str) -> "TableQuery":
        """Read what an address asks; ``others`` are parts of it that the page reads itself.

        Raises
        ------
        django.http.Http404
            If it asks for a choice or an order that does not exist.
        """
        told = {name: read_text(request.GET, name) for name in ("sort", "show", "q")}
        found = TableQuery(
            self, told["sort"] or self.usual, told["show"], told["q"][:LONGEST], others
        )
        if found.show not in {"", *self.shows} or found.sort.lstrip("-") not in self.orders:
            raise Http404
        return found


@dataclass(frozen=True)
class TableQuery:
    """Which rows of a table are meant, in which order."""

    listing: Table
    sort: str
    show: str = ""
    q: str = ""
    others: Mapping[str, str] = field(default_factory=dict)

    @property
    def SHOWS(self) -> dict[str, object]:  # noqa: N802 (as tables that are classes name it)
        """The choices of rows, with their labels."""
        return {name: label for name, (label, _rows) in self.listing.shows.items()}

    @property
    def query(self) -> str:
        """The address' query that means this, without its question mark; the order last."""
        parameters = {**self.others, "show": self.show, "q": self.q, "sort": self.sort}
        return write_query(parameters)

    @property
    def columns(self) -> list[Column]:
        """The heads of the columns that sort."""
        return [self._column(name, label) for name, (label, _) in self.listing.orders.items()]

    def apply(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """Return the rows meant, in the order meant; what is not known comes last either way."""
        return self.choose(rows).order_by(*self.order, self.in_order("pk"))

    def choose(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """Return the rows meant, in no order."""
        if self.show:
            rows = rows.filter(self.listing.shows[self.show][1])
        if self.q and self.listing.searched:
            found = Q()
            for name in self.listing.searched:
                found |= Q(**{f"{name}__icontains": self.q})
            rows = rows.filter(found)
        return rows

    @property
    def order(self) -> list[Any]:
        """The order meant, by all but the number of a row."""
        _label, names = self.listing.orders[self.sort.removeprefix("-")]
        return [self.in_order(name) for name in names]

    def in_order(self, name: str) -> Any:  # noqa: ANN401 (as Django orders)
        """Return the order by one field, in the direction meant."""
        is_down = self.sort.startswith("-")
        return F(name).desc(nulls_last=True) if is_down else F(name).asc(nulls_last=True)

    def page(self, rows: QuerySet[Row], number: str, *, per_page: int = PER_PAGE) -> Page[Row]:
        """Return one page of the rows; a number that is none leads to the nearest."""
        return Paginator(self.apply(rows), per_page).get_page(number)

    def _column(self, name: str, label: object) -> Column:
        after = replace(self, sort=sort_after_click(name, self.sort))
        is_number = name in self.listing.numbers
        return Column(name, label, self.sort, after.query, is_number=is_number)


def csv_of(
    request: HttpRequest, name: str, columns: Sequence[str], rows: Iterable[Iterable[Cell]]
) -> StreamingHttpResponse:
    """Return rows under the heads of their columns as a download of that name."""
    return csv_answer(request, chain([columns], rows), name)


def csv_answer(
    request: HttpRequest, rows: Iterable[Iterable[Cell]], name: str
) -> StreamingHttpResponse:
    """Return rows as a download of that name; ``?bom=1`` asks for a byte order mark."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    lines = csv_lines(rows, bom=request.GET.get("bom") == "1")
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8", headers=headers)
