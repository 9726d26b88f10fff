"""Strict reading of what language models answer in JSON: one object, nothing guessed."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import AfterValidator, BaseModel, StringConstraints, ValidationError

_FENCE = "```"
_WORST_SHOWN = 3


def _storable(text: str) -> str:
    """Refuse what JSON can spell and no database can hold."""
    if UNSTORABLE.search(text):
        msg = "contains NUL, or half of a surrogate pair"
        raise ValueError(msg)
    return text


UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
Text = Annotated[str, AfterValidator(_storable)]
Words = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_storable)
]
Shape = TypeVar("Shape", bound=BaseModel)


class InvalidAnswerError(ValueError):
    """An answer is not what its schema asks for; the message can be sent back to the model."""


def read_answer(raw: str, shape: type[Shape]) -> Shape:
    """Return the answer as ``shape``.

    The text must be one JSON object and nothing else; a code fence around the whole is
    tolerated. Nothing is searched for inside other text: what looks like an answer there may
    be a quotation.

    Raises
    ------
    InvalidAnswerError
        If the text is anything else, or the object says too little, too much or two things.
    """
    found = only_object(raw)
    try:
        return shape.model_validate(found)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        named = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)
        refuse("; ".join(list(named)[:_WORST_SHOWN]))


def only_object(raw: str) -> Mapping[str, Any]:
    """Parse a text that is one JSON object from its first to its last character.

    Raises
    ------
    InvalidAnswerError
        If it is anything else.
    """
    text = raw.strip()
    if text.startswith(_FENCE) and text.endswith(_FENCE):
        text = text.removeprefix(_FENCE).removesuffix(_FENCE).removeprefix("json").strip()
    try:
        found = json.loads(text, object_pairs_hook=_no_key_twice, parse_constant=refuse)
    except json.JSONDecodeError as error:
        refuse(f"not one JSON object and nothing else: {error}")
    except RecursionError:
        refuse("nested too deeply")
    if not isinstance(found, dict):
        refuse(f"a JSON object is needed, not {type(found).__name__}")
    return found


def schema_of(shape: type[BaseModel]) -> Mapping[str, Any]:
    """Return the JSON schema of ``shape`` as providers take it."""
    return shape.model_json_schema()


def refuse(why: str) -> NoReturn:
    """Say why an answer cannot be used."""
    raise InvalidAnswerError(why)


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that says two things under one name: JSON readers differ on which counts."""
    found = dict(pairs)
    if len(found) != len(pairs):
        refuse(f"a key occurs twice among {[key for key, _ in pairs]}")
    return found
