"""A dialogue as every format comes out: merged turns with explicit roles, one hash."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["seeker", "supporter"]

SYNONYMS = {"issues with parents": "conflict with parents"}


@dataclass(frozen=True)
class Turn:
    """Consecutive utterances of one speaker, merged."""

    role: Role
    text: str
    strategies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Point:
    """A context that the file itself fixes: it ends with the seeker's turn at this index."""

    turn_index: int
    reply: str | None
    turn: int | str | None = None
    """What the file calls the place."""


@dataclass(frozen=True)
class ParsedDialogue:
    """One dialogue, merged into turns, with its labels normalised and as imported."""

    turns: tuple[Turn, ...]
    n_utterances: int
    situation: str
    emotion_type: str
    problem_type: str
    source_labels: dict[str, Any]
    content_hash: str
    source_id: str = ""
    language: str = "en"
    states_language: bool = False
    """Whether the file says so; else it is what its format is usually in."""
    points: tuple[Point, ...] = ()


def merge(utterances: Iterable[Turn]) -> tuple[Turn, ...]:
    """Join consecutive utterances of one role into turns, by a space."""
    turns: list[Turn] = []
    for turn in utterances:
        if turns and turns[-1].role == turn.role:
            last = turns.pop()
            text = f"{last.text} {turn.text}"
            turns.append(Turn(turn.role, text, (*last.strategies, *turn.strategies)))
        else:
            turns.append(turn)
    return tuple(turns)


def normal_label(label: str) -> str:
    """Return the one spelling of a label that sources spell in several ways."""
    normal = " ".join(label.split()).casefold()
    return SYNONYMS.get(normal, normal)


def content_hash(turns: Iterable[Turn]) -> str:
    """Return the SHA-256 of what is said and by whom; labels and spelling do not enter."""
    said = [[turn.role, turn.text] for turn in turns]
    canonical = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
