"""Judgments added up by dialogue and pair: what a fit rests on, and its hash."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranking.judgments.method import Stamp
from ranking.numerics.arrays import Booleans, Indices, Integers

NO_PAIRS = "Nobody rated two messages of one context, so the ratings imply no order by pairs."


@dataclass(frozen=True)
class PairCounts:
    """Judgments of each pair of systems in each dialogue, in the canonical frame.

    One entry for each dialogue, pair, protocol and kind of evaluator; all arrays have shape
    (n_rows,). Whatever is made of strengths is a straight line in them, so that counts and sums
    tell all that single judgments would.

    Attributes
    ----------
    unit, first, second : integer arrays
        Source dialogue and the two systems.
    is_graded, is_judge : boolean arrays
        Whether the answers are on the five-point scale, and given by LLM judges.
    n, n_first, n_second : integer arrays
        How many there are, and how many of them prefer the first and the second completion.
    size_first, size_second : integer arrays
        The sizes of those verdicts added up, as they were given.
    """

    unit: Indices
    first: Indices
    second: Indices
    is_graded: Booleans
    is_judge: Booleans
    n: Integers
    n_first: Integers
    n_second: Integers
    size_first: Integers
    size_second: Integers

    @classmethod
    def added_up(cls, columns: Sequence[NDArray[Any]] | Integers) -> "PairCounts":
        """Add up rows that agree in the first five of ten columns, and sort them by those.

        One column is worked on after the other: of ten million judgments each takes 20 MB.
        """
        keys, sums = columns[:5], columns[5:]
        code = np.zeros(len(keys[0]), dtype=np.int64)
        for column in keys:
            code = code * (int(column.max(initial=0)) + 1) + column
        order = np.argsort(code, kind="stable")
        starts = np.flatnonzero(np.diff(code[order], prepend=-1))
        del code
        unit, first, second, is_graded, is_judge = (column[order[starts]] for column in keys)
        added = (
            # Columns of one table of rows lie apart: brought together they are read faster.
            np.add.reduceat(np.ascontiguousarray(column)[order], starts, dtype=np.int64)
            if len(starts)
            else starts
            for column in sums
        )
        return cls(unit, first, second, is_graded == 1, is_judge == 1, *added)

    def part(self, rows: slice) -> "PairCounts":
        """Return some of the rows."""
        return PairCounts(*(getattr(self, field.name)[rows] for field in fields(self)))

    def parts(self) -> Iterator[bytes]:
        """Yield the columns one after the other, eight bytes a number, the lowest first."""
        for field in fields(self):
            yield getattr(self, field.name).astype("<i8").tobytes()


class TextGroup(NamedTuple):
    """Judgments of one text by people against one system, by one evaluator, alike in verdict.

    ``verdict`` is positive when the text is better. ``context`` and ``text`` are keys of rows.
    """

    dialogue: str
    context: int
    text: int
    opponent: str
    is_judge: bool
    evaluator: str
    protocol: str
    verdict: int
    n: int


class MarkGroup(NamedTuple):
    """How often ``system`` was ahead on ``dimension``, of the marks that named a side."""

    system: str
    dimension: str
    wins: int
    n_marks: int


class RatedAlone(NamedTuple):
    """The ratings of single messages that imply judgments of pairs: how many, and their hash."""

    n: int
    digest: str


@dataclass(frozen=True)
class GroupedJudgments:
    """The judgments of one selection, and how many decisions are behind it.

    Attributes
    ----------
    systems, dialogues : tuples of str
        Slugs of the systems judged and content hashes of the source dialogues (the units), sorted;
        indices refer to these.
    counts : PairCounts
        The judgments.
    newest, sum_of_keys : int
        Of the keys of the judgments.
    texts : tuple of TextGroup, or None
        People's texts one by one; None where no system is of people.
    alone : RatedAlone, or None
        In a likert study, what the judgments of pairs are implied by.
    """

    systems: tuple[str, ...]
    dialogues: tuple[str, ...]
    counts: PairCounts
    marks: tuple[MarkGroup, ...] = ()
    n_decisions: int = 0
    newest: int = 0
    sum_of_keys: int = 0
    has_simulated_context: bool = False
    texts: tuple[TextGroup, ...] | None = None
    alone: RatedAlone | None = None

    @property
    def n_judgments(self) -> int:
        """Return how many judgments count: those that people and judges gave, not implied ones."""
        return int(self.counts.n.sum()) if self.alone is None else self.alone.n

    @property
    def stamp(self) -> Stamp:
        """Return the short mark of the analysis set."""
        return Stamp(self.n_judgments, self.newest, self.n_decisions, self.sum_of_keys)

    def inputs_hash(self) -> str:
        """Return the hash of all that a fit of these judgments rests on."""
        content: list[object] = [self.stamp, self.systems, self.dialogues, self.marks, self.texts]
        content += [] if self.alone is None else [self.alone]
        digest = hashlib.sha256(json.dumps(content).encode() + b"\n")
        for column in self.counts.parts():  # of ten million judgments all would be 200 MB
            digest.update(column)
        return digest.hexdigest()
