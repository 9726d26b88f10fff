"""What makes a row no judgment."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ranking.files.judgments.coding import ABSENT, Coded, together
from ranking.numerics.arrays import Integers
from ranking.numerics.strength import STRONGEST

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
