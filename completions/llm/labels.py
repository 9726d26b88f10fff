"""The strict reading of what a model finds in a text: one label for every key of a codebook."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from completions.llm.answers import Text, read_answer, refuse, schema_of

STRICT = ConfigDict(strict=True, extra="forbid", frozen=True)
EVEN = 0.5


class Label(BaseModel):
    """What was said of one key; the quote comes first, so that it is looked for first."""

    model_config = STRICT

    quote: Text
    presence: Literal["present", "absent", "uncertain"]
    probability: Annotated[float, Field(ge=0, le=1)]


Labels = Mapping[str, Label]


@dataclass(frozen=True)
class LabelRequest:
    """The labels that are asked for, and what its parts are called."""

    keys: tuple[str, ...]
    title: str
    """Of the whole answer."""
    each: str
    """What a key stands for, such as a strategy."""
    text: str
    """What the text is that quotes have to stand in, such as a message."""


@cache
def labels_schema(request: LabelRequest) -> Mapping[str, Any]:
    """Return the JSON schema of an answer: an object that has every key once."""
    return schema_of(_shape(request))


def read_labels(raw: str, *, text: str, request: LabelRequest) -> Labels:
    """Return what was said of each key; quotes have single spaces.

    ``text`` is the text as the model was shown it.

    Raises
    ------
    InvalidAnswerError
        If the answer lacks a key or has one twice or too many, quotes what is not in the text,
        calls something present without a quote, or contradicts itself.
    """
    answer = read_answer(raw, _shape(request))
    shown = _one_line(text)
    said = {key: getattr(answer, _name(key)) for key in request.keys}
    return {key: _checked(key, label, shown, request.text) for key, label in said.items()}


def _checked(key: str, label: Label, shown: str, text: str) -> Label:
    quote = _one_line(label.quote)
    if quote not in shown:
        refuse(f"the quote of {key} does not stand in the {text}")
    if label.presence == "present" and not any(map(str.isalnum, quote)):
        refuse(f"{key} is present and has no quote")
    if (label.presence == "present" and label.probability < EVEN) or (
        label.presence == "absent" and label.probability > EVEN
    ):
        refuse(f"{key} is {label.presence} with a probability of {label.probability:g}")
    return label.model_copy(update={"quote": quote})


@cache
def _shape(request: LabelRequest) -> type[BaseModel]:
    """Return the shape of an answer: a field for each key, under its name in the codebook."""
    # The docstring goes into the schema, and so into the prompt.
    about = f"What was said of one {request.each}; the quote comes first, so that it is looked for"
    label = create_model("Label", __base__=Label, __doc__=f"{about} first.")
    fields: dict[str, Any] = {_name(key): (label, Field(alias=key)) for key in request.keys}
    return create_model(request.title, __config__=STRICT, **fields)


def _name(key: str) -> str:
    """Return the key as the name of a field, which no name of pydantic's own can be."""
    return f"of_{key.replace('-', '_')}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
