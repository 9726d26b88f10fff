"""What the simulated models say, whichever way they are asked."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from completions.offline import assistants, judges, planted, voices
from completions.offline.behaviour import Fault, fraction

MODELS = (*voices.VOICES, *judges.JUDGES, *assistants.ASSISTANTS)
REFUSAL = "I'm sorry, but I can't help with that."
OTHER_SCHEMA = json.dumps({"verdict": "Both are kind."})
Messages = Sequence[Mapping[str, str]]


class RefusedRequestError(ValueError):
    """The request asks for something this provider does not have."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Answer:
    """One finished answer, before it is put into a body or a stream."""

    id: str
    model: str
    text: str
    finish_reason: str
    n_prompt_tokens: int
    tells_logprobs: bool = False
    """Whether the caller wants to know how probable each token was."""

    @property
    def tokens(self) -> list[str]:
        """Split the text into pieces that add up to it again."""
        words = self.text.split(" ")
        return [word if place == 0 else f" {word}" for place, word in enumerate(words)]

    @property
    def n_tokens(self) -> int:
        """Count the tokens of the text."""
        return count_tokens(self.text)

    def pieces(self, size: int) -> list[str]:
        """Return the text in pieces of ``size`` tokens; none if there is no text."""
        tokens = self.tokens if self.text else []
        return ["".join(tokens[place : place + size]) for place in range(0, len(tokens), size)]


def make_answer(
    model: str, messages: Messages, fault: Fault | None, *, stand_ins: bool = False
) -> Answer:
    """Let a model answer a chat; a fault may spoil the text.

    With ``stand_ins``, one of the simulated models answers for a model that is not here.

    Raises
    ------
    RefusedRequestError
        If the model is unknown, or the messages are not what it can answer.
    """
    speaker = _stand_in(model, messages) if stand_ins and not _is_here(model) else model
    text, reason = _spoil(_speak(speaker, messages), fault)
    content = "\n".join(message["content"] for message in messages)
    digest = hashlib.sha256(f"{model}\n{content}".encode()).hexdigest()
    return Answer(f"offline-{digest[:24]}", model, text, reason, count_tokens(content))


def _is_here(model: str) -> bool:
    return model in MODELS or planted.is_planted(model)


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text, at about four characters each."""
    return math.ceil(len(text) / 4)


def _stand_in(model: str, messages: Messages) -> str:
    """Return who answers for a model: always the same one, a judge if judging is wanted."""
    known = tuple(judges.JUDGES if _wants_a_judge(messages) else voices.VOICES)
    return known[int(fraction(model) * len(known))]


def _wants_a_judge(messages: Messages) -> bool:
    for read in (judges.read_prompt, judges.read_rating_prompt):
        try:
            read(messages)
        except judges.UnreadablePromptError:
            continue
        return True
    return False


def _judge(model: str, messages: Messages) -> str:
    """Return what a judge says of a pair, or of a message alone."""
    try:
        return judges.answer_alone(model, messages)
    except judges.UnreadablePromptError:
        return judges.answer(model, messages)


def _speak(model: str, messages: Messages) -> str:
    """Return the text of a voice, a judge, an assistant or a planted model."""
    if model in voices.VOICES:
        return voices.reply(model, messages)
    if not _is_here(model):
        raise RefusedRequestError(404, f"There is no model {model!r} here.")
    read = _judge if model in judges.JUDGES else assistants.answer
    read = planted.answer if planted.is_planted(model) else read
    try:
        return read(model, messages)
    except judges.UnreadablePromptError as error:
        raise RefusedRequestError(400, str(error)) from error


def _spoil(text: str, fault: Fault | None) -> tuple[str, str]:
    """Return the text and the finish reason under a fault."""
    if fault is Fault.EMPTY:
        return "", "stop"
    if fault is Fault.FILTERED:
        return "", "content_filter"
    if fault is Fault.TRUNCATED:
        return text[: len(text) // 2], "length"
    if fault is Fault.BROKEN_ANSWER:
        return text[: len(text) // 2], "stop"
    instead = {Fault.OTHER_SCHEMA: OTHER_SCHEMA, Fault.REFUSAL: REFUSAL}
    return (text if fault is None else instead.get(fault, text)), "stop"
