"""What an LLM judge must answer, as a JSON schema, and the strict reading of what came."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NoReturn

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from annotation.verdicts import Answer

_FENCE = "```"
_WORST_SHOWN = 3


def _storable(text: str) -> str:
    """Refuse NUL, which JSON can spell and PostgreSQL cannot hold."""
    if "\x00" in text:
        msg = "contains NUL"
        raise ValueError(msg)
    return text


Words = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_storable)
]


class InvalidJudgeAnswerError(ValueError):
    """A judge's answer is not what the schema asks for; the message can be sent back to it."""


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
    mark = _object({"winner": _one_of("A", "B", "none"), "strength": _one_of(*range(6))})
    return _object(
        {
            "notes": _object({key: {"type": "string"} for key in dimensions}),
            "dimensions": _object(dict.fromkeys(dimensions, mark)),
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
    InvalidJudgeAnswerError
        If the text is anything else, or the object says too little, too much or two things.
    """
    answer = _validated(_only_object(raw))
    for part, keys in (("notes", answer.notes), ("dimensions", answer.dimensions)):
        if set(keys) != set(dimensions):
            _refuse(f"{part} must have exactly the keys {list(dimensions)}, not {list(keys)}")
    for key, mark in answer.dimensions.items():
        if (mark.winner == "none") != (mark.strength == 0):
            _refuse(f"dimensions.{key}: strength is 0 if and only if the winner is none")
    return Answer(
        verdict=answer.strength if answer.winner == "A" else -answer.strength,
        rationale=answer.rationale,
        marks={key: mark.advantage_of_a for key, mark in answer.dimensions.items()},
    )


def _only_object(raw: str) -> Mapping[str, Any]:
    """Parse a text that is one JSON object from its first to its last character."""
    text = raw.strip()
    if text.startswith(_FENCE) and text.endswith(_FENCE):
        text = text.removeprefix(_FENCE).removesuffix(_FENCE).removeprefix("json").strip()
    try:
        found = json.loads(text, object_pairs_hook=_no_key_twice, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        _refuse(f"not one JSON object and nothing else: {error}")
    except RecursionError:
        _refuse("nested too deeply")
    if not isinstance(found, dict):
        _refuse(f"a JSON object is needed, not {type(found).__name__}")
    return found


def _validated(found: Mapping[str, Any]) -> _JudgeAnswer:
    try:
        return _JudgeAnswer.model_validate(found)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        named = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)
        _refuse("; ".join(list(named)[:_WORST_SHOWN]))


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that says two things under one name: JSON readers differ on which counts."""
    found = dict(pairs)
    if len(found) != len(pairs):
        _refuse(f"a key occurs twice among {[key for key, _ in pairs]}")
    return found


def _refuse(why: str) -> NoReturn:
    raise InvalidJudgeAnswerError(why)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
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
