"""Pure: k-anonymity of released attributes of raters.

A table of attributes is k-anonymous if every combination of values that occurs, a cell, is that
of at least k people (Samarati and Sweeney 1998). What is not is made so by one rule, the same
for the same table: rare values become "other", and attributes are left out until it holds.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

OTHER = "other"
K = 5
"""The smallest cell that is released unless somebody asks for larger ones."""

Table = Mapping[str, Sequence[str]]
Cell = tuple[str, ...]


@dataclass(frozen=True)
class Anonymised:
    """Attributes that may be released.

    ``columns`` has a value per person for each attribute that is left, in the order given.
    ``merged`` names, per attribute, the values that became "other", in their order; ``dropped``
    the attributes left out, in the order in which that was decided. ``smallest`` is the number
    of people of the smallest cell, 0 if nothing is left.
    """

    k: int
    columns: dict[str, tuple[str, ...]]
    merged: dict[str, tuple[str, ...]]
    dropped: tuple[str, ...]
    smallest: int


def cells(table: Table) -> Counter[Cell]:
    """Count the people of each cell.

    Raises
    ------
    ValueError
        If the attributes have values of different numbers of people.
    """
    return Counter(zip(*table.values(), strict=True))


def smallest_cell(table: Table) -> int:
    """Return how many people the smallest cell has; 0 of a table without people or attributes."""
    return min(cells(table).values(), default=0)


def small_cells(table: Table, k: int = K) -> dict[Cell, int]:
    """Return the cells of fewer than ``k`` people with their numbers, in the order of values."""
    return {cell: n for cell, n in sorted(cells(table).items()) if n < k}


def anonymise(table: Table, k: int = K) -> Anonymised:
    """Return the attributes so that every cell has ``k`` people at least.

    A table that is k-anonymous comes back as it is. Otherwise the values that fewer than ``k``
    people have become "other" in each attribute, and with them the next rarest (the first by
    name among equals) until "other" has ``k`` people. An attribute of which only "other" would be
    left says nothing and is left out. While a cell is still too small, the attribute with the
    most values is left out (the last one given, among equals), and the rest begins anew.

    Raises
    ------
    ValueError
        If ``k`` is below 1, or the attributes have values of different numbers of people.
    """
    if k < 1:
        msg = f"k must be at least 1, not {k}"
        raise ValueError(msg)
    groups = {name: tuple(values) for name, values in table.items()}
    if not groups or not small_cells(groups, k):
        return Anonymised(k, groups, {}, (), smallest_cell(groups))
    left, dropped = dict(groups), list[str]()
    while True:
        coarse = {name: _coarse(values, k) for name, values in left.items()}
        empty = [name for name, values in coarse.items() if set(values) <= {OTHER}]
        if not empty and not small_cells(coarse, k):
            return Anonymised(k, coarse, _merged(left, coarse), tuple(dropped), _least(coarse))
        for name in empty or [_widest(coarse)]:
            del left[name]
            dropped.append(name)


def _coarse(values: Sequence[str], k: int) -> tuple[str, ...]:
    """Return the values with rare ones as "other": none at all if nobody's is rare."""
    counts = Counter(values)
    if not any(n < k for n in counts.values()):
        return tuple(values)
    gone, n_gone = set[str](), 0
    for value, n in sorted(counts.items(), key=lambda it: (it[0] != OTHER, it[1], it[0])):
        if value != OTHER and n >= k and n_gone >= k:
            break
        gone.add(value)
        n_gone += n
    return tuple(OTHER if value in gone else value for value in values)


def _merged(before: Table, after: Table) -> dict[str, tuple[str, ...]]:
    pairs = {
        name: {old for old, new in zip(before[name], after[name], strict=True) if old != new}
        for name in after
    }
    return {name: tuple(sorted(values)) for name, values in pairs.items() if values}


def _least(coarse: Table) -> int:
    return smallest_cell(coarse) if coarse else 0


def _widest(coarse: Table) -> str:
    return max(reversed(list(coarse)), key=lambda name: len(set(coarse[name])))
