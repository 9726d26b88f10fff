"""Pure: tables whose heads lead to the same table in another order."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar
from urllib.parse import urlencode

Row = TypeVar("Row")
Head: TypeAlias = tuple[object, Callable[[Any], Any]]
"""A column's label, and by what of a row it is sorted."""


@dataclass(frozen=True)
class Column:
    """The head of a column: where it leads, and how the table is sorted by it now."""

    name: str
    label: object
    query: str
    direction: str


@dataclass(frozen=True)
class SortedTable(Generic[Row]):
    """What an address asks of a table; ``sort`` names a column, and may begin with a minus.

    A subclass names its ``COLUMNS``, each with its label and what it is sorted by, and adds its
    own fields; an empty field means all.
    """

    COLUMNS: ClassVar[Mapping[str, Head]]

    sort: str = "code"

    @property
    def query(self) -> str:
        """The address' query that means this table, without its question mark; the order last."""
        asked = asdict(self)
        asked["sort"] = asked.pop("sort")
        return urlencode({name: value for name, value in asked.items() if value})

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
        direction = {name: "ascending", f"-{name}": "descending"}.get(self.sort, "")
        leads_to = f"-{name}" if direction == "ascending" else name
        return Column(name, label, replace(self, sort=leads_to).query, direction)
