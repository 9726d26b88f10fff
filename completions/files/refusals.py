"""Why a file or a row of texts is refused, and which names look alike: one set of words."""

import hashlib
import json
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError  # commands that read judgments do not load it

LONGEST_NAME = 100
REPORT_COLUMNS = ("line", "field", "reason", "why", "what_to_do")


class Reason(StrEnum):
    """Why a row is refused, in the words by which refusals are counted."""

    UNREADABLE = "row not readable"
    BAD_FIELD = "field not usable"
    REPEATED = "row stands twice"
    SECOND_TEXT = "second text for a context"
    UNUSABLE_TEXT = "text not usable"
    UNKNOWN_CONTEXT = "unknown context"
    OTHER_DATASET = "context of another dataset"
    DROPPED_CONTEXT = "dropped context"
    FUTURE = "time in the future"
    # Of messages that people wrote.
    FULL_CONTEXT = "context wants no more messages"
    HAD_CONTEXT = "author had the context already"
    OTHER_BACKGROUND = "another background than before"
    # Of completions that models gave.
    UNKNOWN_SYSTEM = "unknown system"
    NO_MODEL = "system is no language model"
    HAS_COMPLETION = "another completion is there"
    ASKED = "model is being asked"


REMEDIES: Mapping[Reason, str] = {
    Reason.UNREADABLE: "Mend the row.",
    Reason.BAD_FIELD: "Mend the field.",
    Reason.REPEATED: "Leave one of the two rows in.",
    Reason.SECOND_TEXT: "Leave the text in that counts, and delete the other row.",
    Reason.UNUSABLE_TEXT: "Ask the author for another text; please do not change it yourself.",
    Reason.UNKNOWN_CONTEXT: "Compare the key with the list of contexts.",
    Reason.OTHER_DATASET: "Take the row out, or import it into the dataset of its context.",
    Reason.DROPPED_CONTEXT: "Take the row out, or keep the context in its review.",
    Reason.FUTURE: "Mend the date and its zone.",
    Reason.FULL_CONTEXT: "Take the row out; every context wants a fixed number of messages.",
    Reason.HAD_CONTEXT: "Take the row out: nobody writes twice for one context.",
    Reason.OTHER_BACKGROUND: "Give one author one background in every row.",
    Reason.UNKNOWN_SYSTEM: "Register the system first, or mend its slug.",
    Reason.NO_MODEL: "Name a language model; messages of people come in under Writing.",
    Reason.HAS_COMPLETION: "Take the row out: what is there is never replaced.",
    Reason.ASKED: "Take the row out, or cancel the run that asks for it.",
}
_SAID = {
    "missing": "is missing",
    "string_type": "is not a text",
    "string_unicode": "contains half of a surrogate pair",
    "string_too_long": "is too long: {max_length:,} characters at most",
    "too_long": "is too long: {max_length:,} characters at most",
    "extra_forbidden": "is not known",
}
"""Our words for the faults that pydantic names."""


@dataclass(frozen=True)
class Refused:
    """What is wrong with a row: where it is and why, without what stands in it.

    ``position`` is the line in a file, and the index in a list; ``field`` is empty if it is about
    the row as a whole.
    """

    position: int
    field: str
    reason: Reason
    why: str

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return REMEDIES[self.reason]

    def __str__(self) -> str:
        return f"line {self.position:,}: {f'{self.field} {self.why}'.strip()}. {self.remedy}"


@dataclass
class Refusals:
    """What is wrong with the rows of a file that are not used."""

    refused: list[Refused] = field(default_factory=list, kw_only=True)

    @property
    def n_refused(self) -> int:
        """How many rows are not used; one may have several faults."""
        return len({one.position for one in self.refused})

    @property
    def by_reason(self) -> dict[str, int]:
        """How many faults there are of each kind, the most frequent first."""
        return dict(Counter(one.reason.value for one in self.refused).most_common())

    @property
    def digest(self) -> str:
        """A hash by which two outcomes are told apart."""
        content = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    def rows(self) -> Iterator[Sequence[str]]:
        """Yield the refusals as a table, its header first."""
        yield REPORT_COLUMNS
        for one in self.refused:
            yield str(one.position), one.field, one.reason.value, one.why, one.remedy


def counted(n: int, what: str) -> str:
    """Return a number with what is counted, in the plural unless it is one."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def refused(position: int, field: str, reason: Reason, why: str = "") -> Refused:
    """Return a refusal; without another word it says its reason."""
    return Refused(position, field, reason, why or reason.value)


def bad_fields(error: "ValidationError", position: int) -> tuple[Refused, ...]:
    """Return a refusal for every field at fault."""
    return tuple(
        refused(
            position,
            printable(one["loc"][0]) if one["loc"] else "",  # a name that is itself no text
            Reason.BAD_FIELD,
            _SAID.get(one["type"], "").format_map(one.get("ctx", {}))
            or one["msg"].removeprefix("Value error, "),
        )
        for one in error.errors(include_url=False, include_input=False)
    )


def shown(line: str) -> str:
    """Return one line as any terminal shows it: what a file says may move its cursor."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in line)


def printable(name: object) -> str:
    """Return a name that somebody sent, so that it can be sent back."""
    return str(name)[:LONGEST_NAME].encode("utf-8", "replace").decode()


SAVE_AS = 'save it as UTF-8 (in Excel, "CSV UTF-8")'


class InputFileError(ValueError):
    """A file as a whole cannot be read; the message says where, why and what to do."""


def alike(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return each group of names that differ only in case, width, punctuation or spaces."""
    groups = defaultdict[str, set[str]](set)
    for name in names:
        groups[_letters(name) or name].add(name)
    return [tuple(sorted(group)) for _, group in sorted(groups.items()) if len(group) > 1]


def one_spelling(text: str) -> str:
    """Return what a reader sees of a text: accents in one encoding, and single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def _letters(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(sign for sign in folded if sign.isalnum() or unicodedata.combining(sign))
