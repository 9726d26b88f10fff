"""Columns of text as indices into their distinct values."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ranking.numerics.arrays import Booleans, Integers

if TYPE_CHECKING:
    import pyarrow as pa

ABSENT = ("", "nan", "NaN")


@dataclass(frozen=True)
class Coded:
    """A column of text: entry i is ``values[codes[i]]``; values are distinct and sorted."""

    values: tuple[str, ...]
    codes: Integers

    def among(self, wanted: Iterable[str]) -> Booleans:
        """Say for each entry whether it is one of the ``wanted`` values."""
        chosen = set(wanted)
        return np.array([value in chosen for value in self.values], dtype=np.bool_)[self.codes]

    def mapped(self, meaning: dict[str, int]) -> Integers:
        """Return for each entry what its value stands for."""
        return np.array([meaning[value] for value in self.values], dtype=np.int64)[self.codes]

    def taken(self, kept: Booleans) -> "Coded":
        """Return the entries that are kept, without values that none of them has."""
        return tidy(self.values, self.codes[kept])

    @property
    def is_empty(self) -> bool:
        """Say whether no entry has any text."""
        return set(self.values) <= {""}


def tidy(values: Iterable[str], codes: Integers) -> Coded:
    """Sort the values, join equal ones, and leave out those that no entry has."""
    named = tuple(values)
    used = np.bincount(codes, minlength=len(named)) > 0
    distinct = sorted({value for value, there in zip(named, used, strict=True) if there})
    place = {value: index for index, value in enumerate(distinct)}
    renumbered = np.array([place.get(value, 0) for value in named], dtype=np.int64)
    return Coded(tuple(distinct), renumbered[codes] if len(codes) else codes)


def coded(column: "pa.ChunkedArray[Any]") -> Coded:
    """Read a column of dictionary-encoded text; what is missing becomes empty text."""
    chunks: list[Any] = column.unify_dictionaries().chunks  # the stubs know no dictionaries
    if not chunks:
        return Coded((), np.zeros(0, dtype=np.int64))
    values = ["" if value is None else value for value in chunks[0].dictionary.to_pylist()]
    codes = np.concatenate([_indices(chunk.indices, len(values)) for chunk in chunks])
    return tidy([*values, ""], codes)


def _indices(indices: "pa.Int32Array", missing: int) -> Integers:
    """Return a chunk's indices, with ``missing`` for those that it has not.

    PyArrow's own ``to_numpy`` would import pandas first, which costs more than all the rest.
    """
    valid, data = indices.buffers()  # no bitmap where nothing is missing, no data without rows
    if data is None:
        return np.zeros(0, dtype=np.int64)
    place = slice(indices.offset, indices.offset + len(indices))
    found = np.frombuffer(memoryview(data), dtype=np.int32)[place].astype(np.int64)
    if valid is not None:
        bits = np.unpackbits(np.frombuffer(memoryview(valid), dtype=np.uint8), bitorder="little")
        found[bits[place] == 0] = missing
    return found


def together(one: Coded, other: Coded) -> tuple[tuple[str, ...], Integers, Integers]:
    """Give two columns the same values: those of either, and the codes of both among them."""
    values = tuple(sorted({*one.values, *other.values}))
    place = {value: index for index, value in enumerate(values)}
    return values, one.mapped(place), other.mapped(place)
