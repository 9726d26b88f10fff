"""A language model's opinion of a candidate: what it is asked, and the strict reading of it."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from completions.llm import prompts
from completions.llm.answers import Words, read_answer, refuse, schema_of
from completions.llm.prompts import Prompt, encoded

SCREENER = "screener-1"
STRICT = ConfigDict(strict=True, extra="forbid", frozen=True)
Turns = Sequence[Mapping[str, str]]


class _Signal(BaseModel):
    model_config = STRICT

    name: Literal["distress", "conflict", "help"]
    quote: Words


class _Disqualifier(BaseModel):
    model_config = STRICT

    name: Literal[
        "self-harm",
        "hate",
        "sexual",
        "violence",
        "personal-data",
        "platform",
        "clinical",
        "closing",
    ]
    quote: Words


class _Opinion(BaseModel):
    model_config = STRICT

    signals: list[_Signal]
    disqualifiers: list[_Disqualifier]
    reason: Words
    qualifies: bool


OPINION_SCHEMA: Mapping[str, Any] = schema_of(_Opinion)


def screener_prompt() -> Prompt:
    """Return the screener's instructions, the answer's schema filled in."""
    return prompts.with_schema(SCREENER, OPINION_SCHEMA, around=prompts.CORRECTION)


def screener_messages(turns: Turns, turn_index: int, situation: str) -> tuple[dict[str, str], ...]:
    """Return the chat that asks about the couplet at ``turn_index``; no labels go in."""
    shown = [{"role": turn["role"], "text": turn["text"]} for turn in turns[: turn_index + 1]]
    sections = {
        "situation": situation,
        "dialogue": shown,
        "reply": turns[turn_index + 1]["text"],
    }
    material = "\n".join(f"<{tag}>\n{encoded(part)}\n</{tag}>" for tag, part in sections.items())
    return (
        {"role": "system", "content": screener_prompt().text},
        {"role": "user", "content": material},
    )


def read_opinion(raw: str, *, last: str, texts: Sequence[str]) -> dict[str, Any]:
    """Return an opinion; ``last`` is the seeker's last turn, ``texts`` all that a reader sees.

    Raises
    ------
    InvalidAnswerError
        If the text is not an opinion, quotes what is not there, or contradicts itself.
    """
    opinion = read_answer(raw, _Opinion)
    for signal in opinion.signals:
        if not _occurs(signal.quote, [last]):
            refuse(f"the quote of {signal.name} does not stand in the seeker's last turn")
    for found in opinion.disqualifiers:
        if not _occurs(found.quote, texts):
            refuse(f"the quote of {found.name} does not stand in the text")
    if opinion.qualifies and (opinion.disqualifiers or not opinion.signals):
        refuse("qualifies is true although a signal is missing or a disqualifier is named")
    return opinion.model_dump()


def _occurs(quote: str, texts: Sequence[str]) -> bool:
    words = " ".join(quote.split()).casefold()
    return any(words in " ".join(text.split()).casefold() for text in texts)
