"""What is wrong with a row of a file, and what to do about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a row is refused, in the words by which refusals are counted."""

    UNREADABLE = "row not readable"
    BAD_FIELD = "column not usable"
    REPEATED = "row stands twice"
    SECOND_TEXT = "second message of one author for a talk"
    UNUSABLE_TEXT = "text not usable"
    UNKNOWN_CONTEXT = "unknown talk"
    OTHER_DATASET = "talk of another dataset"
    DROPPED_CONTEXT = "dropped talk"
    FULL_CONTEXT = "talk wants no more messages"
    HAD_CONTEXT = "author had the talk already"
    OTHER_BACKGROUND = "another background than before"
    FUTURE = "written in the future"


REMEDIES: Mapping[Reason, str] = {
    Reason.UNREADABLE: "Mend the row in the file.",
    Reason.BAD_FIELD: "Mend the column in the file.",
    Reason.REPEATED: "Nothing: the first of the two is used.",
    Reason.SECOND_TEXT: "Leave the message in that counts, and delete the other row.",
    Reason.UNUSABLE_TEXT: "Ask the author for another text; please do not change it yourself.",
    Reason.UNKNOWN_CONTEXT: "Compare the key with the contexts of the dataset.",
    Reason.OTHER_DATASET: "Import the row into the dataset that the talk belongs to.",
    Reason.DROPPED_CONTEXT: "Take the row out, or keep the talk in its review.",
    Reason.FULL_CONTEXT: "Take the row out; every talk wants a fixed number of messages.",
    Reason.HAD_CONTEXT: "Take the row out: nobody writes twice for one talk.",
    Reason.OTHER_BACKGROUND: "Give one author one background in every row.",
    Reason.FUTURE: "Mend the date and its zone.",
}


@dataclass(frozen=True)
class RefusedRow:
    """A row that cannot be used: where it is and why, without what stands in it."""

    line: int
    reason: Reason
    why: str

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return REMEDIES[self.reason]

    def __str__(self) -> str:
        return f"line {self.line:,}: {self.why}. {self.remedy}"


def refused(line: int, reason: Reason, why: str = "") -> RefusedRow:
    """Return a refusal; without another word it says its reason."""
    return RefusedRow(line, reason, why or reason.value)
