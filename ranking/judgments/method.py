"""How a fit is computed, and the marks by which a change of code or judgments is noticed.

Pages need them without numerics.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ranking.numerics.strength_mode import StrengthMode

PROTOCOL_STRENGTHS = {"slightly": 2, "much": 4}  # for studies whose file names none
LEVEL = 0.95
EACH_ONCE = "each judgment counts once"
IMPLIED = "Bradley-Terry, maximum likelihood, of the order that ratings of single messages imply"

HERE = Path(__file__).parents[1]
# What else than the numerics decides what comes out of a fit or of its analyses.
SOURCES = (
    *(HERE / name for name in ("analyses", "fits/estimate.py", "fits/people.py")),
    *(HERE / f"judgments/{name}.py" for name in ("scores", "style", "tallies")),
    HERE.parent / "annotation" / "rationales" / "themes" / "__init__.py",
)
MOST_DRAWS: Mapping[str, int] = {"replicates": 100_000, "splits": 1_000}
"""The most that a method may ask for: an error is then known to a hundredth of itself."""
TOLERANCE = 1e-9  # relative to the figure, and absolute below 1


@cache
def code_version() -> str:
    """Return a mark of the estimators' source, which changes when any of them does."""
    sources = sorted((HERE / "numerics").rglob("*.py"))
    for source in SOURCES:
        sources += sorted(source.rglob("*.py")) or [source]
    content = b"".join(path.read_bytes() for path in sources)
    return f"numerics-{hashlib.sha256(content).hexdigest()[:16]}"


def is_close(one: object, other: object) -> bool:
    """Say whether two values are equal, numbers to 1e-9 of their size."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= TOLERANCE * max(1.0, abs(one), abs(other))
    return one == other


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
    interval: str = "bootstrap of source dialogues, percentiles, expanded for few dialogues"
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


def missing_of(
    content: Mapping[str, Any], known: Mapping[str, Any], *, n_judgments: int, n_dialogues: int
) -> dict[str, tuple[int, int]]:
    """Return what a study file wants more of before systems are ranked: how many of how many.

    ``known`` is what a fit knows of who judged. People are counted where no LLM judge judged.
    """
    minimum = content.get("results", {})
    have = {"judgments": n_judgments, "dialogues": n_dialogues}
    if minimum.get("raters") and not known["judges"]:
        have["raters"] = known["n_raters"]
    return {key: (n, minimum[key]) for key, n in have.items() if n < minimum.get(key, 0)}


def declared(content: Mapping[str, Any], *, is_combined: bool, is_alone: bool) -> dict[str, Any]:
    """Return what a study file decides of the method of its ratings.

    Declared masses are of people and judges in one pool, and nothing to either alone. Ratings of
    single messages imply who is ahead but not by how much, so those wins are whole.
    """
    slightly, much = graded_strengths(content)
    return {
        "strength": StrengthMode.IGNORE if is_alone else StrengthMode.SOFT,
        "slightly": slightly,
        "much": much,
        "level": LEVEL,
        "masses": declared_masses(content) if is_combined else None,
    }


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
