"""What an LLM judge must answer, as a JSON schema, and the strict reading of what came."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from annotation.verdicts import Answer
from completions.answers import Words, read_answer, refuse


class _Mark(BaseModel):
    """Which message leads on one dimension, and how far."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    winner: Literal["A", "B", "none"]
    strength: int = Field(ge=0, le=5)

    @property
    def advantage_of_a(self) -> int:
        """Return the strength with a sign: positive if A leads."""
        return -self.strength if self.winner == "B" else self.strength


class _JudgeAnswer(BaseModel):
    """The whole answer; notes come before every verdict."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    notes: dict[str, Words]
    dimensions: dict[str, _Mark]
    rationale: Words
    winner: Literal["A", "B"]
    strength: int = Field(ge=1, le=5)


def answer_schema(dimensions: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of an answer: notes, marks, rationale, and only then the verdict."""
    mark = object_schema({"winner": _one_of("A", "B", "none"), "strength": _one_of(*range(6))})
    return object_schema(
        {
            "notes": object_schema({key: {"type": "string"} for key in dimensions}),
            "dimensions": object_schema(dict.fromkeys(dimensions, mark)),
            "rationale": {"type": "string"},
            "winner": _one_of("A", "B"),
            "strength": _one_of(*range(1, 6)),
        }
    )


def read_judge_answer(raw: str, dimensions: Sequence[str]) -> Answer:
    """Return a judge's answer in the frame of the screen; positive numbers favour A.

    The text must be one JSON object and nothing else; a code fence around the whole is
    tolerated. Nothing is searched for inside other text: what looks like a verdict there may
    be a quotation from a message.

    Raises
    ------
    InvalidAnswerError
        If the text is anything else, or the object says too little, too much or two things.
    """
    answer = read_answer(raw, _JudgeAnswer)
    check_keys({"notes": answer.notes, "dimensions": answer.dimensions}, dimensions)
    for key, mark in answer.dimensions.items():
        if (mark.winner == "none") != (mark.strength == 0):
            refuse(f"dimensions.{key}: strength is 0 if and only if the winner is none")
    return Answer(
        verdict=answer.strength if answer.winner == "A" else -answer.strength,
        rationale=answer.rationale,
        marks={key: mark.advantage_of_a for key, mark in answer.dimensions.items()},
    )


def check_keys(parts: Mapping[str, Collection[str]], dimensions: Sequence[str]) -> None:
    """Refuse an answer unless each of its parts speaks of every dimension, and of nothing else."""
    for part, keys in parts.items():
        if set(keys) != set(dimensions):
            refuse(f"{part} must have exactly the keys {list(dimensions)}, not {list(keys)}")


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _one_of(*values: str | int) -> dict[str, Any]:
    kind = "string" if isinstance(values[0], str) else "integer"
    return {"type": kind, "enum": list(values)}
