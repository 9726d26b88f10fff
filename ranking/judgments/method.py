"""How a fit is computed, and the marks by which a change of its judgments is noticed."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from ranking.judgments.code import code_version
from ranking.numerics.strength_mode import StrengthMode

PROTOCOL_STRENGTHS = {"slightly": 2, "much": 4}  # for studies whose file names none
EACH_ONCE = "each judgment counts once"
IMPLIED = "Bradley-Terry, maximum likelihood, of the order that ratings of single messages imply"


@dataclass(frozen=True)
class Method:
    """How a fit is computed; stored with it, and part of what makes it unique."""

    strength: StrengthMode
    slightly: int
    much: int
    level: float
    replicates: int
    seed: int
    estimator: str = "Bradley-Terry, maximum likelihood"
    ties: str = "half to each side"
    pooling: str = EACH_ONCE
    interval: str = "bootstrap of source dialogues, percentiles, expanded below 50 dialogues"
    ranks: str = "simultaneous pairwise differences (max-t)"
    masses: Sequence[float] | None = None  # of all people and of all LLM judges
    splits: int = 20
    people: str = "best of people: by halves of the evaluators, without the opponent at hand"

    def as_json(self) -> dict[str, Any]:
        """Return the method as it is stored."""
        return asdict(self)

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Method":
        """Read what `as_json` wrote."""
        return cls(**{**stored, "strength": StrengthMode(stored["strength"])})

    def hash(self) -> str:
        """Return the hash of the method and of the code that carries it out."""
        content = json.dumps([self.as_json(), code_version()], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()


def graded_strengths(content: Mapping[str, Any]) -> tuple[int, int]:
    """Return the strengths that "slightly" and "much" stand for by a study file."""
    stands_for = content.get("soft_scores", PROTOCOL_STRENGTHS)
    return stands_for["slightly"], stands_for["much"]


def declared_masses(content: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return what people and LLM judges weigh together by a study file, if it says so."""
    masses = content.get("pool_masses")
    return None if masses is None else (masses["people"], masses["judges"])


def pooling_of(masses: Sequence[float] | None) -> str:
    """Say in words how the judgments of people and of LLM judges are pooled."""
    if masses is None:
        return EACH_ONCE
    people, judges = masses
    return (
        f"all judgments by people weigh {people:g} to {judges:g} of all judgments by LLM judges, "
        "however many there are of each; inside a kind each judgment counts alike"
    )


class Stamp(NamedTuple):
    """A short mark of an analysis set.

    Judgments, exclusion decisions and deletions on request are only ever added: the number of
    those that count, the newest key, how many decisions there were and the sum of the keys tell
    whether anything changed, even where a withdrawal leads back to an earlier set or where one
    judgment came in late for another.
    """

    n_judgments: int
    newest: int
    n_decisions: int
    sum_of_keys: int = 0

    def __str__(self) -> str:
        return ":".join(map(str, self))

    @classmethod
    def of(cls, text: str) -> "Stamp":
        """Read what ``str`` wrote."""
        return cls(*map(int, text.split(":")))
