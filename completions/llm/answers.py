"""Reading of what language models answer in JSON: one object, and nothing guessed.

What cannot be mistaken is read although it is not to the letter what was asked for, such as a fence
or "3" for 3: a second question would cost as much as the first. Each such repair is noted.
"""

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import AfterValidator, BaseModel, StringConstraints, ValidationError

from completions.llm.exchange import UNSTORABLE, storable

FENCE, TEXT_BEFORE, BYTE_ORDER_MARK, TRAILING_COMMA, NUMBER, LETTER, EXTRA_KEY = (
    *("fence", "text before", "byte order mark", "trailing comma", "number", "letter case"),
    "extra key",
)
_OPENING_FENCE = re.compile(r"(?:```|~~~)[ \t]*\w{0,12}[ \t]*(?=[\r\n{])")
_CLOSING_FENCE = re.compile(r"(?:```|~~~)?")
_LONGEST_SENTENCE = 300
_LONGEST_NUMBER = 100
_QUOTES = re.compile(
    r"\b(?:say|says|said|contain|contains|hold|holds|read|reads|write|writes|wrote|claims?|quot\w*"
    r"|demands?|asks?|(?:message|candidate|text|reply|response) [ab])\b",
    re.IGNORECASE,
)
_COMMA = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*"|,(?=\s*+[}\]])', re.DOTALL)
_WHOLE_NUMBER = re.compile(r"(?P<whole>[+-]?\d{1,9})(?:\.0{1,3})?")
_CHOICE = re.compile(r"'([^']*)'")
_WORST_SHOWN = 3

_noted: ContextVar[list[str] | None] = ContextVar("repairs", default=None)


def _storable(text: str) -> str:
    """Refuse what JSON can spell and no database can hold."""
    if UNSTORABLE.search(text):
        msg = "contains NUL, or half of a surrogate pair"
        raise ValueError(msg)
    return text


Text = Annotated[str, AfterValidator(_storable)]
Words = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_storable)
]
Shape = TypeVar("Shape", bound=BaseModel)


class InvalidAnswerError(ValueError):
    """An answer is not what its schema asks for; the message can be sent back, and stored."""

    def __init__(self, why: str) -> None:
        super().__init__(storable(why))


@contextmanager
def noting_repairs() -> Iterator[list[str]]:
    """Collect the names of the repairs that are made while answers are read, each once."""
    repairs: list[str] = []
    token = _noted.set(repairs)
    try:
        yield repairs
    finally:
        _noted.reset(token)


def note_repair(name: str) -> None:
    """Note that an answer was read although it is not to the letter what was asked for."""
    if (repairs := _noted.get()) is not None and name not in repairs:
        repairs.append(name)


def read_answer(raw: str, shape: type[Shape]) -> Shape:
    """Return the answer as ``shape``.

    The text must end with the one JSON object that it holds. Nothing is searched for inside
    an object, and a text with two is refused: what looks like an answer there may be a quotation.

    Raises
    ------
    InvalidAnswerError
        If the text is anything else, or the object says too little or two things.
    """
    found = only_object(raw)
    try:
        return shape.model_validate(found)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
    try:
        return shape.model_validate(_mended(found, faults))
    except ValidationError:  # what was wrong at first is told, in full
        named = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)
        refuse("; ".join(list(named)[:_WORST_SHOWN]))


def only_object(raw: str) -> Mapping[str, Any]:
    """Parse a text that holds one JSON object, in a fence or behind a sentence if need be.

    Raises
    ------
    InvalidAnswerError
        If it holds anything else, or something behind the object.
    """
    text = raw.strip()
    if text != (text := text.strip("\ufeff").strip()):
        note_repair(BYTE_ORDER_MARK)
    try:
        found = _DECODER.decode(text) if text.startswith(("{", "[")) else _embedded(text)
    except json.JSONDecodeError:
        found = _embedded(text)
    except RecursionError:
        refuse("nested too deeply")
    if not isinstance(found, dict):
        refuse(f"a JSON object is needed, not {type(found).__name__}")
    return found


def _embedded(text: str) -> Any:  # noqa: ANN401 (any JSON)
    """Return the one value that the text ends with."""
    begin = text.find("{")
    if begin < 0:
        refuse("not one JSON object and nothing else: there is no object")
    before = text[:begin]
    if (fence := _OPENING_FENCE.search(text)) is not None and fence.end() <= begin:
        before = before[: fence.start()] + before[fence.end() :]
        note_repair(FENCE)
    if before.strip():
        _check_sentence(before)
        note_repair(TEXT_BEFORE)
    try:
        found, behind = _first_value(text[begin:])
    except json.JSONDecodeError as error:
        refuse(f"not one JSON object and nothing else: {error}")
    except RecursionError:
        refuse("nested too deeply")
    if not _CLOSING_FENCE.fullmatch(behind.strip()):
        refuse("not one JSON object and nothing else: something follows the object")
    return found


def _check_sentence(before: str) -> None:
    """Refuse what stands before an object unless it leads to it, and speaks of no quotation."""
    leads = before.rstrip(" \t").endswith((":", ".", "!", "\n"))
    if not leads or len(before) > _LONGEST_SENTENCE or _QUOTES.search(before):
        refuse("not one JSON object and nothing else: what stands before it may be about another")


def _first_value(text: str) -> tuple[Any, str]:
    """Return the value at the beginning, and what follows it."""
    try:
        found, end = _DECODER.raw_decode(text)
    except json.JSONDecodeError:
        mended = _COMMA.sub(lambda one: one[0] if one[0] != "," else "", text)
        if mended == text:
            raise
        note_repair(TRAILING_COMMA)
        found, end = _DECODER.raw_decode(mended)
        return found, mended[end:]
    return found, text[end:]


def _mended(found: Mapping[str, Any], faults: Sequence[Any]) -> Mapping[str, Any]:
    """Return the object with those faults mended that leave no doubt about what is meant."""
    mended: dict[str, Any] = copy.deepcopy(dict(found))
    for fault in faults:
        *path, last = fault["loc"]
        place: Any = mended
        for step in path:
            place = place[step]
        if fault["type"] == "extra_forbidden":
            _drop(place, str(last))
        elif fault["type"] in ("int_type", "literal_error"):
            place[last] = _meant(fault, place[last])
    return mended


def _drop(place: dict[str, Any], extra: str) -> None:
    """Leave a key out that nobody asked for; one that is spelled like another says two things."""
    if drops_key(extra, [key for key in place if key != extra]):
        del place[extra]


def drops_key(extra: str, others: Sequence[str]) -> bool:
    """Say whether a key that nobody asked for may be left out, and note it."""
    alike = extra.strip().casefold()
    if any(key.strip().casefold() == alike for key in others):
        return False
    note_repair(EXTRA_KEY)
    return True


def _meant(fault: Mapping[str, Any], value: object) -> object:
    """Return what was meant by a value; the value itself where saying so would be a guess."""
    if fault["type"] == "int_type":
        whole = _whole(value)
        return value if whole is None else whole
    if isinstance(value, str):
        choices = _CHOICE.findall(fault["ctx"]["expected"])
        alike = [one for one in choices if one.casefold() == value.strip().casefold()]
        if len(alike) == 1:
            note_repair(LETTER)
            return alike[0]
    return value


def _whole(value: object) -> int | None:
    """Return the whole number that a text or a fraction without a rest spells."""
    if isinstance(value, bool) or not isinstance(value, str | float):
        return None
    spelled = _WHOLE_NUMBER.fullmatch(str(value).strip())
    if spelled is None:
        return None
    note_repair(NUMBER)
    return int(spelled["whole"])


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


def _short_number(digits: str) -> int:
    """Refuse a number longer than any that is asked for; Python does not read the longest."""
    if len(digits) > _LONGEST_NUMBER:
        refuse("a number is too long")
    return int(digits)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_no_key_twice, parse_constant=refuse, parse_int=_short_number
)
