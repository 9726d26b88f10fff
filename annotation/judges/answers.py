"""What an LLM judge must answer, as a JSON schema, and the strict reading of what came."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from annotation.studies.verdicts import Answer
from completions.llm.answers import Words, drops_key, read_answer, refuse


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

    Read by the rules of `completions.llm.answers.read_answer`.

    Raises
    ------
    InvalidAnswerError
        If the text is not one answer, or the object says too little or two things.
    """
    answer = read_answer(raw, _JudgeAnswer)
    check_keys({"notes": answer.notes, "dimensions": answer.dimensions}, dimensions)
    marks = {key: answer.dimensions[key] for key in dimensions}
    for key, mark in marks.items():
        if (mark.winner == "none") != (mark.strength == 0):
            refuse(f"dimensions.{key}: strength is 0 if and only if the winner is none")
    return Answer(
        verdict=answer.strength if answer.winner == "A" else -answer.strength,
        rationale=answer.rationale,
        marks={key: mark.advantage_of_a for key, mark in marks.items()},
    )


def check_keys(parts: Mapping[str, Collection[str]], dimensions: Sequence[str]) -> None:
    """Refuse an answer unless each of its parts speaks of every dimension.

    A key beside them is left out and noted, unless it is spelled like one of them.
    """
    for part, keys in parts.items():
        extra = set(keys) - set(dimensions)
        if set(dimensions) - set(keys) or not all(drops_key(key, dimensions) for key in extra):
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
