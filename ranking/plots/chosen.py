"""Which rows and columns of a table a radar draws: more than a few lines could not be read."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ranking.findings import ColumnKind, Table
from ranking.plots.rings import FEWEST_AXES

MOST, BY_DEFAULT = 4, 3
LEAST_STEPS = {ColumnKind.ELO: 5.0, ColumnKind.SHARE: 0.05}
LEAST_STEP = 0.01


class UnknownRowError(Exception):
    """A row was asked for that the table does not have."""


@dataclass(frozen=True)
class Chosen:
    """The rows that an address asks for, by their first cells; nothing where it asks for none."""

    asked: tuple[str, ...] = field(default=())

    @classmethod
    def read(cls, values: Sequence[str]) -> "Chosen":
        """Read values of an address, each of which may name several, with commas between."""
        named = (name.strip() for value in values for name in value.split(","))
        return cls(tuple(dict.fromkeys(name for name in named if name)))

    def rows(self, table: Table) -> tuple[int, ...]:
        """Return the places of the rows to draw, in the order of the table.

        At most `MOST` of those that are asked for, or the first `BY_DEFAULT`.

        Raises
        ------
        UnknownRowError
            If there is no such row.
        """
        heads = [row[0] for row in table.rows]
        for name in self.asked:
            if name not in heads:
                raise UnknownRowError(name)
        if not self.asked:
            return tuple(range(min(BY_DEFAULT, len(heads))))
        return tuple(place for place, head in enumerate(heads) if head in self.asked)[:MOST]

    def are_too_many(self) -> bool:
        """Say whether more are asked for than are drawn."""
        return len(self.asked) > MOST


def axes_of(table: Table) -> list[int]:
    """Return the columns that are axes: those of the kind of the second, if they are enough."""
    kind = table.columns[1].kind if len(table.columns) > 1 else ColumnKind.TEXT
    same = [n for n, one in enumerate(table.columns) if n and one.kind is kind]
    return [] if kind.is_words or len(same) < FEWEST_AXES else same


def least_step(kind: ColumnKind) -> float:
    """Return the smallest step between rings that means anything."""
    return LEAST_STEPS.get(kind, LEAST_STEP)
