"""What rewriters, hostility raters and screeners are asked, and the strict reading of answers."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from completions.llm import prompts
from completions.llm.answers import Text, Words, read_answer, refuse, schema_of
from completions.llm.prompts import Prompt, encoded

Messages = tuple[dict[str, str], ...]
Turns = Sequence[Mapping[str, str]]
REWRITER, HOSTILITY_RATER, SCREENER = "rewriter-1", "hostility-rater-1", "screener-1"
STRICT = ConfigDict(strict=True, extra="forbid", frozen=True)
DIALOGUE = """\
<dialogue>
{dialogue}
</dialogue>"""
WANTED = """\
Hostility of each seeker turn, oldest first:
<hostility>
{target}
</hostility>"""
AGAIN = """\
That rewrite cannot be used:
{problems}
Rewrite the same dialogue again, with only the JSON object that fits the schema."""


def rewriter_prompt() -> Prompt:
    """Return the rewriter's instructions, the answer's schema filled in."""
    return prompts.with_schema(REWRITER, REWRITE_SCHEMA, around=f"{DIALOGUE}\n{WANTED}\n{AGAIN}")


def hostility_rater_prompt() -> Prompt:
    """Return the rater's instructions, the answer's schema filled in."""
    return prompts.with_schema(
        HOSTILITY_RATER, RATING_SCHEMA, around=f"{DIALOGUE}\n{prompts.CORRECTION}"
    )


def rewriter_messages(
    turns: Turns, target: Sequence[int], refused: tuple[str, Sequence[str]] | None = None
) -> Messages:
    """Return the chat that asks for a rewrite; ``refused`` is a former answer and its problems."""
    messages = (
        {"role": "system", "content": rewriter_prompt().text},
        {
            "role": "user",
            "content": f"{_dialogue(turns)}\n{WANTED.format(target=encoded(list(target)))}",
        },
    )
    if refused is None:
        return messages
    raw, problems = refused
    listed = "\n".join(f"- {problem}" for problem in problems)
    return (
        *messages,
        {"role": "assistant", "content": raw},
        {"role": "user", "content": AGAIN.format(problems=listed)},
    )


def hostility_rater_messages(turns: Turns) -> Messages:
    """Return the chat that asks how hostile each seeker turn is; no profile and no target."""
    return (
        {"role": "system", "content": hostility_rater_prompt().text},
        {"role": "user", "content": _dialogue(turns)},
    )


def _dialogue(turns: Turns) -> str:
    return DIALOGUE.format(dialogue=encoded(_shown(turns)))


def _shown(turns: Turns) -> list[dict[str, str]]:
    return [{"role": turn["role"], "text": turn["text"]} for turn in turns]


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


def read_rewrite(raw: str) -> list[dict[str, str]]:
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
        refuse(f"hostility must have {n} numbers, one for each seeker turn, not {len(ratings)}")
    return ratings


def seekers(turns: Turns) -> list[str]:
    """Return the seeker's texts, oldest first."""
    return [turn["text"] for turn in turns if turn["role"] == "seeker"]


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


def screener_messages(turns: Turns, turn_index: int, situation: str) -> Messages:
    """Return the chat that asks about the couplet at ``turn_index``; no labels go in."""
    sections = {
        "situation": situation,
        "dialogue": _shown(turns[: turn_index + 1]),
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
