"""Tables of rows: chosen, searched, ordered and paged, and downloaded as asked.

A table is a ``Table``; what an address asks of it is a ``TableQuery``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import F, Model, Q, QuerySet
from django.http import Http404, HttpRequest, QueryDict, StreamingHttpResponse

from access.console.csv_cells import Cell, csv_lines

PER_PAGE = 50
LONGEST = 60  # characters of a search
Row = TypeVar("Row", bound=Model)
Read = TypeVar("Read")
Labels = Mapping[str, object]
"""What may be said, and how it is called on the page."""


@dataclass(frozen=True)
class Table:
    """How a table may be asked for.

    ``orders`` names each column that sorts, with its label and by what; ``shows`` each choice of
    rows, with its label and its condition; ``choices`` further parts of the address, each with
    what it may say and what of a row says so; ``searched`` are the fields in which a search looks,
    ``usual`` is the order where none is asked for, and ``numbers`` are the columns that hold some.

    Where the database chooses and sorts, orders and choices are fields, and conditions are ``Q``.
    Of rows that were read all are functions: of a row, and of what a choice says.
    """

    orders: Mapping[str, tuple[object, Any]]
    usual: str
    shows: Mapping[str, tuple[object, Any]] = field(default_factory=dict)
    choices: Mapping[str, tuple[Labels, Any]] = field(default_factory=dict)
    searched: Sequence[str] = ()
    numbers: Sequence[str] = ()

    def asked(self, request: HttpRequest, **others: str) -> "TableQuery":
        """Read what an address asks; ``others`` are parts of it that the page reads itself.

        Raises
        ------
        django.http.Http404
            If it asks for a choice or an order that does not exist.
        """
        names = ("sort", "show", "q", *self.choices)
        told = {name: read_text(request.GET, name) for name in names}
        chosen = {name: told[name] for name in self.choices}
        is_known = all(
            chosen[name] in {"", *labels} for name, (labels, _is_so) in self.choices.items()
        )
        sort, show, q = told["sort"] or self.usual, told["show"], told["q"][:LONGEST]
        if not is_known or show not in {"", *self.shows} or _bare(sort) not in self.orders:
            raise Http404
        return TableQuery(self, sort, show, q, chosen | others)


@dataclass(frozen=True)
class TableQuery:
    """Which rows of a table are meant, in which order."""

    listing: Table
    sort: str
    show: str = ""
    q: str = ""
    others: Mapping[str, str] = field(default_factory=dict)

    @property
    def shows(self) -> dict[str, object]:
        """The choices of rows, with their labels."""
        return {name: label for name, (label, _rows) in self.listing.shows.items()}

    @property
    def query(self) -> str:
        """The address' query that means this, without its question mark; the order last."""
        parameters = {**self.others, "show": self.show, "q": self.q, "sort": self.sort}
        return write_query(parameters)

    @property
    def columns(self) -> list[dict[str, object]]:
        """The heads of the columns that sort, each with the query of the order it leads to."""
        return [self._column(name, label) for name, (label, _) in self.listing.orders.items()]

    def apply(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """Return the rows meant, in the order meant; what is not known comes last either way."""
        return self.choose(rows).order_by(*self.order, self.in_order("pk"))

    def choose(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """Return the rows meant, in no order."""
        if self.show:
            rows = rows.filter(self.listing.shows[self.show][1])
        for name, (_labels, column) in self.listing.choices.items():
            if self.others[name]:
                rows = rows.filter(**{column: self.others[name]})
        if self.q and self.listing.searched:
            found = Q()
            for name in self.listing.searched:
                found |= Q(**{f"{name}__icontains": self.q})
            rows = rows.filter(found)
        return rows

    def listed(self, rows: Iterable[Read]) -> list[Read]:
        """Return those of rows that were read which are meant, in order as `apply` has it."""
        key = self._ordered_by
        meant = [row for row in rows if self._means(row)]
        known = [row for row in meant if key(row) is not None]
        unknown = [row for row in meant if key(row) is None]
        return sorted(known, key=key, reverse=self.is_down) + unknown

    def _means(self, row: object) -> bool:
        if self.show and not self.listing.shows[self.show][1](row):
            return False
        for name, (_labels, is_so) in self.listing.choices.items():
            if self.others[name] and not is_so(row, self.others[name]):
                return False
        said = self.q.casefold()
        texts = [str(getattr(row, name)).casefold() for name in self.listing.searched]
        return any(said in text for text in texts) if said and texts else True

    @property
    def is_down(self) -> bool:
        """Whether the last comes first."""
        return self.sort.startswith("-")

    @property
    def _ordered_by(self) -> Any:  # noqa: ANN401 (names of fields, or a function of a row)
        return self.listing.orders[_bare(self.sort)][1]

    @property
    def order(self) -> list[Any]:
        """The order meant, by all but the number of a row."""
        return [self.in_order(name) for name in self._ordered_by]

    @property
    def indexed_order(self) -> list[str]:
        """The same with the number of a row, so that an index can serve fields that are known."""
        return [f"-{name}" if self.is_down else name for name in (*self._ordered_by, "pk")]

    def in_order(self, name: str) -> Any:  # noqa: ANN401 (as Django orders)
        """Return the order by one field, in the direction meant."""
        return F(name).desc(nulls_last=True) if self.is_down else F(name).asc(nulls_last=True)

    def page(self, rows: QuerySet[Row], number: str) -> Page[Row]:
        """Return one page of the rows; a number that is none leads to the nearest."""
        return Paginator(self.apply(rows), PER_PAGE).get_page(number)

    def _column(self, name: str, label: object) -> dict[str, object]:
        directions = {name: "ascending", f"-{name}": "descending"}
        return {
            "label": label,
            "direction": directions.get(self.sort, ""),
            "query": replace(self, sort=f"-{name}" if self.sort == name else name).query,
            "is_number": name in self.listing.numbers,
        }


def _bare(sort: str) -> str:
    return sort.removeprefix("-")


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


def read_text(query: Mapping[str, str], name: str) -> str:
    """Return what the query says under a name, trimmed, without what no database compares with."""
    return query.get(name, "").replace("\0", "").strip()


def read_ticked(posted: QueryDict, name: str, *, most: int) -> list[str]:
    """Return the values of the boxes of a name that are ticked, each once and ``most`` at most."""
    return [one for one in dict.fromkeys(posted.getlist(name)) if "\0" not in one][:most]


def read_ticked_keys(posted: QueryDict, name: str, *, most: int) -> list[int]:
    """Return the ticked boxes that are keys of rows; longer than 18 digits is none."""
    ticked = read_ticked(posted, name, most=most)
    return [int(one) for one in ticked if re.fullmatch("[0-9]{1,18}", one)]


def write_query(options: Mapping[str, Any]) -> str:
    """Return the query that asks this, without its question mark and what is empty."""
    return urlencode({name: value for name, value in options.items() if value})
