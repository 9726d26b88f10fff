"""Judgments of a file as indices in the canonical frame, and which rows are refused."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from annotation.tool_files.reading import RowFault
from completions.files.refusals import counted
from ranking.numerics.arrays import Booleans, Integers
from ranking.numerics.strength import STRONGEST

if TYPE_CHECKING:
    import pyarrow as pa

ABSENT = ("", "nan", "NaN")


@dataclass(frozen=True)
class Coded:
    """A column of text: entry i is ``values[codes[i]]``; values are distinct and sorted."""

    values: tuple[str, ...]
    codes: Integers

    def among(self, names: Iterable[str]) -> Booleans:
        """Say for each entry whether it is one of the ``names``."""
        chosen = set(names)
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


def coded_texts(texts: Iterable[str]) -> Coded:
    """Code texts one by one."""
    place: dict[str, int] = {}
    codes = [place.setdefault(text, len(place)) for text in texts]
    return tidy(place, np.array(codes, dtype=np.int64))


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


@dataclass(frozen=True)
class FileJudgments:
    """Judgments as arrays of shape (n_judgments,), in the order of the file.

    The pair of systems stands in canonical order, by name, wherever each was shown.

    Attributes
    ----------
    systems : tuple of str
        Sorted names; ``first`` and ``second`` are indices of them, ``first`` the smaller.
    first, second : integer arrays
        The two systems.
    verdict : integer array
        1 if the first was preferred, -1 if the second was, 0 for a tie.
    size : integer array
        Strength of the preference, 1 to 5; 0 where the file gives none.
    shown : integer array
        1 if the first stood as ``system_a``, -1 if it stood as ``system_b``.
    unit : Coded
        What was sampled independently: the context unless another column was named.
    context, pair, rater, group : Coded or None
        Context, name of the pair of texts, evaluator, and the column to rank by; None where not
        asked for or not in the file.
    is_judge : boolean array or None
        Whether an LLM judged; None where the file does not say.
    n_without_verdict : int
        Rows that were left out because their winner is empty.
    n_not_counting : int
        Rows that were left out because the file says that they do not count.
    told : tuple of str
        How the file was read where it is not plainly ours, and names that look alike.
    """

    systems: tuple[str, ...]
    first: Integers
    second: Integers
    verdict: Integers
    size: Integers
    shown: Integers
    unit: Coded
    context: Coded
    pair: Coded | None = None
    rater: Coded | None = None
    group: Coded | None = None
    is_judge: Booleans | None = None
    n_without_verdict: int = 0
    n_not_counting: int = 0
    told: tuple[str, ...] = ()

    @property
    def left_out(self) -> list[str]:
        """Return warnings of rows that were left out."""
        reasons = {
            "without a winner": self.n_without_verdict,
            "marked as not counting": self.n_not_counting,
        }
        return [f"Left out: {counted(n, 'row')} {reason}." for reason, n in reasons.items() if n]

    @property
    def n_judgments(self) -> int:
        """Return how many judgments there are."""
        return len(self.first)

    def where(self, kept: Booleans) -> "FileJudgments":
        """Return the judgments that are kept; systems without any stay in the list.

        Rows left out are not among them: they are counted with the whole file alone.
        """

        def take(column: Coded | None) -> Coded | None:
            return None if column is None else column.taken(kept)

        return replace(
            self,
            first=self.first[kept],
            second=self.second[kept],
            verdict=self.verdict[kept],
            size=self.size[kept],
            shown=self.shown[kept],
            unit=self.unit.taken(kept),
            context=self.context.taken(kept),
            pair=take(self.pair),
            rater=take(self.rater),
            group=take(self.group),
            is_judge=None if self.is_judge is None else self.is_judge[kept],
            n_without_verdict=0,
            n_not_counting=0,
        )


@dataclass(frozen=True)
class RawColumns:
    """Columns by name, of equal length; those that the file has not are left out.

    Rows that cannot be read at all are left out as well, and counted in ``n_unreadable``.
    """

    columns: Mapping[str, Coded]
    n_rows: int
    n_unreadable: int = 0


@dataclass(frozen=True)
class Places:
    """The line of each row that could be read, in order, and what is wrong with the others."""

    lines: list[int]
    unreadable: list[RowFault]


@dataclass(frozen=True)
class Format:
    """A kind of file; a module of this package for each.

    ``read`` reads the wanted columns, as far as the file has them, or raises JudgmentFileError.
    ``places`` finds out where each row stands; it is slow, and asked only when a row is bad.
    Rows are counted in ``place``: lines of text, or rows.
    """

    read: Callable[[Path, tuple[str, ...]], RawColumns]
    places: Callable[[Path, tuple[str, ...]], Places]
    place: str = "line"


WINNERS = {"a": 1, "tie": 0, "b": -1, "": 0}
COUNTS = "counts"
KINDS = {"human": 0, "llm": 1}
NAMES = ("context_id", "system_a", "system_b", "rater_id")
LONGEST_QUOTE = 40


@dataclass(frozen=True)
class Broken:
    """Rows that break one rule, and how each does."""

    rows: Integers
    reason: Callable[[int], str]


def broken_rows(columns: Mapping[str, Coded], required: tuple[str, ...]) -> Iterator[Broken]:
    """Yield the rows that break each rule; ``required`` columns have text in every row."""
    yield from _without_name(columns, required)
    yield _against_itself(columns["system_a"], columns["system_b"])
    yield _unknown(columns["winner"], "winner", "is not a, b or tie", WINNERS)
    if "judge_kind" in columns:
        yield _unknown(columns["judge_kind"], "judge_kind", "is not human or llm", KINDS)
    if "strength" in columns:
        known = [one for one in columns["strength"].values if size(one) is not None]
        says = f"is not a whole number from 1 to {STRONGEST}"
        yield _unknown(columns["strength"], "strength", says, known)


def size(strength: str) -> int | None:
    """Read a strength: 1 to 5, 0 where none is given, None where it is something else."""
    if strength in ABSENT:
        return 0
    try:
        value = float(strength)
    except ValueError:
        return None
    return int(value) if value.is_integer() and 1 <= value <= STRONGEST else None


def _without_name(columns: Mapping[str, Coded], required: tuple[str, ...]) -> Iterator[Broken]:
    for name in required:
        if name != "winner" and "" in columns[name].values:
            rows = np.flatnonzero(columns[name].among([""]))
            yield Broken(rows, lambda _row, name=name: f"{name} is empty")  # type: ignore[misc]


def _against_itself(first: Coded, second: Coded) -> Broken:
    values, one, other = together(first, second)
    empty = values.index("") if "" in values else -1
    rows = np.flatnonzero((one == other) & (one != empty))
    return Broken(rows, lambda row: f"{_quoted(values[one[row]])} is compared with itself")


def _unknown(column: Coded, name: str, says: str, known: "Mapping[str, int] | list[str]") -> Broken:
    if set(column.values) <= set(known):
        return Broken(np.zeros(0, dtype=np.int64), lambda _row: "")
    return Broken(
        np.flatnonzero(~column.among(known)),
        lambda row: f"{name} {_quoted(column.values[column.codes[row]])} {says}",
    )


def _quoted(value: str) -> str:
    """Quote a value so that it stays on its line and stays short."""
    short = value if len(value) <= LONGEST_QUOTE else f"{value[:LONGEST_QUOTE]}..."
    return json.dumps(short, ensure_ascii=False)
