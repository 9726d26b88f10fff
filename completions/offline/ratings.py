"""The simulated judges when they rate one message alone: points instead of verdicts."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from completions.offline.features import look_at
from completions.offline.judges import (
    DIMENSION_TASTE,
    UnreadablePromptError,
    read_sections,
    taste,
    worth,
)

MIDDLE, POINTS_PER_WORTH = 3.0, 2.5
"""A message of worth 0 gets 3 points of 5."""
_SECTION = re.compile(r"<(dialogue|candidate|answer_schema)>\s*(.*?)\s*</\1>", re.DOTALL)


@dataclass(frozen=True)
class RatingMaterial:
    """What a rating prompt holds."""

    seeker_turns: tuple[str, ...]
    candidate: str
    keys: tuple[str, ...]


def answer(judge: str, messages: Sequence[Mapping[str, str]]) -> str:
    """Return the JSON answer of ``judge``; the same prompt always gets the same answer.

    Raises
    ------
    UnreadablePromptError
        If the messages lack the dialogue, the candidate or the answer's schema.
    """
    material = read_prompt(messages)
    seen = look_at(material.candidate, material.seeker_turns)
    overall = worth(judge, material.seeker_turns, seen)
    points = {
        key: _points(overall + DIMENSION_TASTE * taste(judge, key, material.candidate))
        for key in material.keys
    }
    rating = {
        "notes": dict.fromkeys(material.keys, f"It {seen.best_trait()}."),
        "rationale": f"It {seen.best_trait()}, and it {seen.worst_trait()}.",
        "ratings": points,
    }
    return json.dumps(rating, ensure_ascii=False)


def read_prompt(messages: Sequence[Mapping[str, str]]) -> RatingMaterial:
    """Return the material of a rating prompt; every section is JSON between named tags."""
    found = read_sections(messages, _SECTION)
    try:
        turns = json.loads(found["dialogue"])
        return RatingMaterial(
            seeker_turns=tuple(turn["text"] for turn in turns if turn["role"] == "seeker"),
            candidate=json.loads(found["candidate"]),
            keys=tuple(json.loads(found["answer_schema"])["properties"]["ratings"]["required"]),
        )
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        msg = f"This is not a rating prompt: {error!r}."
        raise UnreadablePromptError(msg) from error


def _points(value: float) -> int:
    return min(5, max(1, round(MIDDLE + POINTS_PER_WORTH * value)))
