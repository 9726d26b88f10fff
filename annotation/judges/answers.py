"""What an LLM judge must answer, as a JSON schema, and the strict reading of what came.

Of a verdict also how probable it was to the judge itself, by the log probabilities of its tokens.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from annotation.studies.verdicts import RATINGS, Answer
from completions.llm import Token
from completions.llm.answers import Words, drops_key, read_answer, refuse

STRICT = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Mark(BaseModel):
    """Which message leads on one dimension, and how far."""

    model_config = STRICT

    winner: Literal["A", "B", "none"]
    strength: int = Field(ge=0, le=5)

    @property
    def advantage_of_a(self) -> int:
        """Return the strength with a sign: positive if A leads."""
        return -self.strength if self.winner == "B" else self.strength


class _JudgeAnswer(BaseModel):
    """The whole answer; notes come before every verdict."""

    model_config = STRICT

    notes: dict[str, Words]
    dimensions: dict[str, _Mark]
    rationale: Words
    winner: Literal["A", "B"]
    strength: int = Field(ge=1, le=5)


class _Ratings(BaseModel):
    """The whole answer; notes come before the points."""

    model_config = STRICT

    notes: dict[str, Words]
    rationale: Words
    ratings: dict[str, int]


def answer_schema(dimensions: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of an answer: notes, marks, rationale, and only then the verdict."""
    mark = _object_schema({"winner": _one_of("A", "B", "none"), "strength": _one_of(*range(6))})
    return _object_schema(
        {
            "notes": _object_schema({key: {"type": "string"} for key in dimensions}),
            "dimensions": _object_schema(dict.fromkeys(dimensions, mark)),
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
    _check_keys({"notes": answer.notes, "dimensions": answer.dimensions}, dimensions)
    marks = {key: answer.dimensions[key] for key in dimensions}
    for key, mark in marks.items():
        if (mark.winner == "none") != (mark.strength == 0):
            refuse(f"dimensions.{key}: strength is 0 if and only if the winner is none")
    return Answer(
        verdict=answer.strength if answer.winner == "A" else -answer.strength,
        rationale=answer.rationale,
        marks={key: mark.advantage_of_a for key, mark in marks.items()},
    )


def rating_schema(dimensions: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of an answer: notes, rationale, and only then the points."""
    points = {"type": "integer", "enum": list(RATINGS)}
    return _object_schema(
        {
            "notes": _object_schema({key: {"type": "string"} for key in dimensions}),
            "rationale": {"type": "string"},
            "ratings": _object_schema(dict.fromkeys(dimensions, points)),
        }
    )


def read_rating_answer(raw: str, dimensions: Sequence[str]) -> Answer:
    """Return a judge's points, 1 to 5 on each dimension; there is no verdict.

    Read by the rules of `completions.llm.answers.read_answer`.

    Raises
    ------
    InvalidAnswerError
        If the text is not one answer, or the object says too little, two things or a number that
        is not on the scale.
    """
    answer = read_answer(raw, _Ratings)
    _check_keys({"notes": answer.notes, "ratings": answer.ratings}, dimensions)
    ratings = {key: answer.ratings[key] for key in dimensions}
    for key, points in ratings.items():
        if points not in RATINGS:
            refuse(f"ratings.{key} must be from 1 to 5, not {points}")
    return Answer(verdict=None, rationale=answer.rationale, marks=ratings)


def _check_keys(parts: Mapping[str, Collection[str]], dimensions: Sequence[str]) -> None:
    """Refuse an answer unless each of its parts speaks of every dimension.

    A key beside them is left out and noted, unless it is spelled like one of them.
    """
    for part, keys in parts.items():
        extra = set(keys) - set(dimensions)
        if set(dimensions) - set(keys) or not all(drops_key(key, dimensions) for key in extra):
            refuse(f"{part} must have exactly the keys {list(dimensions)}, not {list(keys)}")


def _object_schema(properties: dict[str, Any]) -> dict[str, Any]:
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


_PARTS = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\]]', re.DOTALL)
"""The strings of a JSON text, whole, and the brackets outside of them."""
_KEY = '"winner"'
_LETTERS = frozenset({'"A"', '"B"'})


def probability_of_a(text: str, tokens: Sequence[Token]) -> float | None:
    """Return the probability of A against B as the overall winner, or None if it is not known.

    ``text`` is a judge's answer that was read, ``tokens`` its pieces. A letter that is not among
    the alternatives gets all the probability that those leave over, so that no verdict looks
    surer than it is.
    """
    place = _place_of_verdict(text)
    if place is None or (found := _token_at(text[place:], tokens)) is None:
        return None
    token, offset = found
    a, b = (_share(letter, token, offset) for letter in "AB")
    rest = max(0.0, 1.0 - sum(map(math.exp, token.alternatives.values())))
    a, b = (rest if one is None else one for one in (a, b))
    return a / (a + b) if a + b > 0 else None


def _place_of_verdict(text: str) -> int | None:
    """Return where the letter stands: in the value of the outermost object's winner."""
    depth, before = 0, ""
    for found in _PARTS.finditer(text):
        part = found[0]
        if part in "{[":
            depth += 1
        elif part in "}]":
            depth -= 1
        elif depth == 1:
            if before == _KEY and part in _LETTERS:
                return found.start() + 1
            before = part
    return None


def _token_at(tail: str, tokens: Sequence[Token]) -> tuple[Token, int] | None:
    """Return the token in which ``tail``, the end of the text, begins, and where in it.

    It is looked for from the end: what follows the letter is plain, while earlier tokens may be
    pieces of a sign, which cannot be put together again.
    """
    behind = ""
    for token in reversed(tokens):
        behind = token.text + behind
        if len(behind) >= len(tail):
            return (token, len(behind) - len(tail)) if behind.endswith(tail) else None
    return None


def _share(letter: str, token: Token, offset: int) -> float | None:
    """Return the probability of all alternatives that say this letter, or None if none does."""
    beginning = token.text[:offset] + letter
    shares = [
        math.exp(logprob)
        for text, logprob in token.alternatives.items()
        if text.startswith(beginning)
    ]
    return sum(shares) if shares else None
