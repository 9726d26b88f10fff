"""Pure: tables whose heads lead to the same table in another order."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from access.console.table_query import Column, sort_after_click, write_query

Row = TypeVar("Row")
Head: TypeAlias = tuple[object, Callable[[Any], Any]]
"""A column's label, and by what of a row it is sorted."""


@dataclass(frozen=True)
class SortedTable(Generic[Row]):
    """What an address asks of a table; ``sort`` names a column, and may begin with a minus.

    A subclass names its ``COLUMNS``, each with its label and what it is sorted by, says which are
    ``NUMBERS``, and adds its own fields; an empty field means all.
    """

    COLUMNS: ClassVar[Mapping[str, Head]]
    NUMBERS: ClassVar[Collection[str]] = ()

    sort: str = "code"

    @property
    def query(self) -> str:
        """The address' query that means this table, without its question mark; the order last."""
        parameters = asdict(self)
        parameters["sort"] = parameters.pop("sort")
        return write_query(parameters)

    @property
    def is_sortable(self) -> bool:
        """Whether there is a column of the order's name."""
        return self.sort.removeprefix("-") in self.COLUMNS

    def in_order(self, rows: Iterable[Row]) -> list[Row]:
        """Return the rows in the order meant; what is not known comes last either way."""
        _label, key = self.COLUMNS[self.sort.removeprefix("-")]
        held = list(rows)
        known = [row for row in held if key(row) is not None]
        unknown = [row for row in held if key(row) is None]
        return sorted(known, key=key, reverse=self.sort.startswith("-")) + unknown

    def columns(self) -> list[Column]:
        """Return the heads of the table."""
        return [self._column(name, label) for name, (label, _key) in self.COLUMNS.items()]

    def _column(self, name: str, label: object) -> Column:
        after = replace(self, sort=sort_after_click(name, self.sort))
        return Column(name, label, self.sort, after.query, is_number=name in self.NUMBERS)
