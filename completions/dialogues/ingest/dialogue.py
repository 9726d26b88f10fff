"""A dialogue as every format comes out, the types of its fields, and what makes a bad record."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator

from completions.dialogues.normaliser import typed
from completions.files.refusals import InputFileError
from completions.llm.exchange import UNSTORABLE

Role = Literal["seeker", "supporter"]

SYNONYMS = {"issues with parents": "conflict with parents"}


@dataclass(frozen=True)
class Turn:
    """Consecutive utterances of one speaker, merged."""

    role: Role
    text: str
    strategies: tuple[str, ...] = ()


@dataclass(frozen=True)
class FixedContext:
    """A context that the file itself fixes: it ends with the seeker's turn at this index."""

    turn_index: int
    reply: str | None
    turn: int | str | None = None
    """What the file calls the place."""


@dataclass(frozen=True)
class ParsedDialogue:
    """One dialogue, merged into turns, with its labels normalised and as imported."""

    turns: tuple[Turn, ...]
    n_utterances: int
    situation: str
    emotion_type: str
    problem_type: str
    source_labels: dict[str, Any]
    content_hash: str
    source_id: str = ""
    language: str = "en"
    states_language: bool = False
    """Whether the file says so; else it is what its format is usually in."""
    points: tuple[FixedContext, ...] = ()

    @property
    def stored_turns(self) -> list[dict[str, str]]:
        """Return the turns as rows hold them."""
        return [{"role": turn.role, "text": turn.text} for turn in self.turns]


def merge(utterances: Iterable[Turn]) -> tuple[Turn, ...]:
    """Join consecutive utterances of one role into turns, by a space."""
    turns: list[Turn] = []
    for turn in utterances:
        if turns and turns[-1].role == turn.role:
            last = turns.pop()
            text = f"{last.text} {turn.text}"
            turns.append(Turn(turn.role, text, (*last.strategies, *turn.strategies)))
        else:
            turns.append(turn)
    return tuple(turns)


def normal_label(label: str) -> str:
    """Return the one spelling of a label that sources spell in several ways."""
    normal = " ".join(label.split()).casefold()
    return SYNONYMS.get(normal, normal)


def content_hash(turns: Iterable[Turn]) -> str:
    """Return the SHA-256 of what is said and by whom; labels and spelling do not enter."""
    said = [[turn.role, turn.text] for turn in turns]
    canonical = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


class IngestError(InputFileError):
    """A file cannot be read as dialogues; the message says where and why."""


@dataclass(frozen=True)
class BadRecord:
    """A record that cannot be used: its place in the file, and why, without what was said in it."""

    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


INVISIBLE = ("Cc", "Cf", "Zl", "Zp", "Zs")  # Unicode categories that draw nothing
LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
DEEPEST = 50
LONGEST_LABEL = 60
MOST_TURNS = 2**15 - 1  # of which a column keeps the place
REGION, SCRIPT = 2, 4  # letters of these subtags, which are spelled CN and Hans

Speaker = Literal["seeker", "supporter", "usr", "sys", "speaker", "listener"]
ROLES: dict[Speaker, Role] = {
    "seeker": "seeker",
    "supporter": "supporter",
    "usr": "seeker",
    "sys": "supporter",
    "speaker": "seeker",
    "listener": "supporter",
}


def storable(text: str) -> str:
    """Return the text.

    Raises
    ------
    ValueError
        If no database keeps it.
    """
    if UNSTORABLE.search(text):
        msg = "contains a character that cannot be stored: NUL, or half of a surrogate pair"
        raise ValueError(msg)
    return text


def _storable_json(value: dict[str, Any]) -> dict[str, Any]:
    if _is_deeper(value, DEEPEST):
        msg = f"is nested deeper than {DEEPEST}"
        raise ValueError(msg)
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except TypeError as error:  # of Parquet: a time, bytes, an exact number
        msg = "holds a value that is no text, number or list of them"
        raise ValueError(msg) from error
    storable(text.replace("\\u0000", "\x00"))
    return value


def _is_deeper(value: object, levels: int) -> bool:
    """Whether lists and objects stand in each other deeper than that; encoders recurse, too."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels == 0 or any(_is_deeper(one, levels - 1) for one in inside)


def _one_line(text: str) -> str:
    """Collapse whitespace, so that formatting cannot tell one source from another."""
    line = " ".join(text.split())
    if all(unicodedata.category(character) in INVISIBLE for character in typed(line)):
        msg = "is empty"
        raise ValueError(msg)
    return line


def language_tag(tag: str) -> str:
    """Check the form of the tag, and spell it as is usual, so that one language is one tag."""
    if not LANGUAGE_TAG.fullmatch(tag):
        msg = 'is not a language tag of BCP 47, such as "de" or "zh-Hans"'
        raise ValueError(msg)
    language, *others = tag.lower().split("-")
    return "-".join([language, *(_usual_case(subtag) for subtag in others)])


def _usual_case(subtag: str) -> str:
    if len(subtag) == REGION:
        return subtag.upper()
    return subtag.title() if len(subtag) == SCRIPT else subtag


def _number_or_label(value: object) -> object:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if not is_number and not isinstance(value, str):
        msg = "expected a whole number or a string"
        raise ValueError(msg)
    return storable(value) if isinstance(value, str) else value


def _listed(value: object) -> object:
    """Return one strategy, or none, as several."""
    if value is None or value == "":
        return ()
    return value if isinstance(value, list) else (value,)


def _empty_if_null(value: object) -> object:
    return "" if value is None else value


def _short(label: str) -> str:
    """Refuse a label that grows too long in small letters, as it is stored."""
    if len(normal_label(label)) > LONGEST_LABEL:
        msg = f"has over {LONGEST_LABEL} characters in small letters"
        raise ValueError(msg)
    return label


Text = Annotated[str, AfterValidator(storable)]
Utterance = Annotated[Text, AfterValidator(_one_line)]
Label = Annotated[
    str, Field(max_length=LONGEST_LABEL), AfterValidator(storable), AfterValidator(_short)
]
LabelOrNull = Annotated[Label, BeforeValidator(_empty_if_null)]
Strategies = Annotated[tuple[Label, ...], BeforeValidator(_listed)]
Extras = Annotated[dict[str, Any], AfterValidator(_storable_json)]
Name = Annotated[str, Field(max_length=120), AfterValidator(storable)]
Place = Annotated[int | str, PlainValidator(_number_or_label)]
LanguageTag = Annotated[str, Field(max_length=35), AfterValidator(language_tag)]
