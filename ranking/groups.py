"""Judgments grouped by dialogue, pair and verdict: what a fit rests on, and its hash."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple


class Group(NamedTuple):
    """Judgments alike in all that matters, in the canonical frame."""

    dialogue: str
    first: str
    second: str
    protocol: str
    verdict: int
    n: int
    newest: int
    n_simulated: int


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


class Stamp(NamedTuple):
    """A short mark of an analysis set.

    Judgments, exclusion decisions and deletions on request are only ever added: the number of
    those that count, the newest key and how many decisions there were tell whether anything
    changed, even where a withdrawal leads back to an earlier set.
    """

    n_judgments: int
    newest: int
    n_decisions: int

    def __str__(self) -> str:
        return ":".join(map(str, self))

    @classmethod
    def of(cls, text: str) -> "Stamp":
        """Read what ``str`` wrote."""
        return cls(*map(int, text.split(":")))


@dataclass(frozen=True)
class GroupedJudgments:
    """The judgments of one selection, and how many decisions are behind it.

    ``texts`` are those of people's texts one by one; None where no system is of people.
    """

    groups: tuple[Group, ...]
    marks: tuple[MarkGroup, ...]
    n_decisions: int
    texts: tuple[TextGroup, ...] | None = None

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Return the slugs of the systems judged, sorted; indices refer to these."""
        return tuple(sorted({slug for group in self.groups for slug in group[1:3]}))

    @cached_property
    def dialogues(self) -> tuple[str, ...]:
        """Return the content hashes of the source dialogues, sorted: the units."""
        return tuple(sorted({group.dialogue for group in self.groups}))

    @property
    def n_judgments(self) -> int:
        """Return how many judgments count."""
        return sum(group.n for group in self.groups)

    @property
    def has_simulated_evaluator(self) -> bool:
        """Say whether any of the judgments came from a simulated evaluator."""
        return any(group.n_simulated for group in self.groups)

    @property
    def stamp(self) -> Stamp:
        """Return the short mark of the analysis set."""
        newest = max((group.newest for group in self.groups), default=0)
        return Stamp(self.n_judgments, newest, self.n_decisions)

    def inputs_hash(self) -> str:
        """Return the hash of all that a fit of these judgments rests on."""
        content = [self.stamp, [group[:6] for group in self.groups], self.marks, self.texts]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()
