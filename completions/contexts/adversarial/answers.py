"""What a rewriter and a hostility rater must answer, and the strict reading of what came."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from completions.llm.answers import InvalidAnswerError, Text, read_answer, schema_of

Turns = list[dict[str, str]]
STRICT = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Turn(BaseModel):
    model_config = STRICT

    role: Literal["seeker", "supporter"]
    text: Text


class _Rewritten(BaseModel):
    model_config = STRICT

    turns: list[_Turn]


class _Rated(BaseModel):
    model_config = STRICT

    hostility: list[Annotated[int, Field(ge=0, le=10)]]


REWRITE_SCHEMA: Mapping[str, Any] = schema_of(_Rewritten)
RATING_SCHEMA: Mapping[str, Any] = schema_of(_Rated)


def read_rewrite(raw: str) -> Turns:
    """Return the rewritten dialogue, every turn with its role.

    Raises
    ------
    InvalidAnswerError
        If the text is not exactly that.
    """
    return [turn.model_dump() for turn in read_answer(raw, _Rewritten).turns]


def read_ratings(raw: str, n: int) -> list[int]:
    """Return the hostility of each of ``n`` seeker turns, 0 to 10.

    Raises
    ------
    InvalidAnswerError
        If the text is not exactly that.
    """
    ratings = read_answer(raw, _Rated).hostility
    if len(ratings) != n:
        msg = f"hostility must have {n} numbers, one for each seeker turn, not {len(ratings)}"
        raise InvalidAnswerError(msg)
    return ratings


def seekers(turns: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the seeker's texts, oldest first."""
    return [turn["text"] for turn in turns if turn["role"] == "seeker"]
