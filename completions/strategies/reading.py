"""The strict reading of which strategies a model finds in a message."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from completions.answers import Text, read_answer, refuse, schema_of
from completions.strategies.codebook import Codebook

STRICT = ConfigDict(strict=True, extra="forbid", frozen=True)
EVEN = 0.5


class Label(BaseModel):
    """What was said of one strategy; the quote comes first, so that it is looked for first."""

    model_config = STRICT

    quote: Text
    presence: Literal["present", "absent", "uncertain"]
    probability: Annotated[float, Field(ge=0, le=1)]


Labels = Mapping[str, Label]


def answer_schema(codebook: Codebook) -> Mapping[str, Any]:
    """Return the JSON schema of an answer: an object that has every strategy once."""
    return schema_of(_shape(codebook))


def read_labels(raw: str, *, text: str, codebook: Codebook) -> Labels:
    """Return what was said of each strategy, by key; quotes have single spaces.

    ``text`` is the message as the model was shown it.

    Raises
    ------
    InvalidAnswerError
        If the answer lacks a strategy or has one twice or too many, quotes what is not in the
        message, calls a strategy present without a quote, or contradicts itself.
    """
    answer = read_answer(raw, _shape(codebook))
    shown = _one_line(text)
    return {key: _checked(key, getattr(answer, _name(key)), shown) for key in codebook.keys}


def _checked(key: str, label: Label, text: str) -> Label:
    quote = _one_line(label.quote)
    if quote not in text:
        refuse(f"the quote of {key} does not stand in the message")
    if label.presence == "present" and not any(map(str.isalnum, quote)):
        refuse(f"{key} is present and has no quote")
    if (label.presence == "present" and label.probability < EVEN) or (
        label.presence == "absent" and label.probability > EVEN
    ):
        refuse(f"{key} is {label.presence} with a probability of {label.probability:g}")
    return label.model_copy(update={"quote": quote})


@cache
def _shape(codebook: Codebook) -> type[BaseModel]:
    """Return the shape of an answer: a field for each strategy, under its key."""
    fields: dict[str, Any] = {_name(key): (Label, Field(alias=key)) for key in codebook.keys}
    return create_model("Strategies", __config__=STRICT, **fields)


def _name(key: str) -> str:
    """Return the key as the name of a field, which no name of pydantic's own can be."""
    return f"of_{key.replace('-', '_')}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
