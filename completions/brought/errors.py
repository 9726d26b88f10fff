"""What is wrong with a completion that somebody brings in, and what to do about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a row is refused, in the words by which refusals are counted."""

    UNREADABLE = "row not readable"
    BAD_FIELD = "field not usable"
    REPEATED = "row stands twice"
    UNKNOWN_CONTEXT = "unknown context"
    OTHER_DATASET = "context of another dataset"
    DROPPED_CONTEXT = "dropped context"
    UNKNOWN_SYSTEM = "unknown system"
    NO_MODEL = "system is no language model"
    HAS_COMPLETION = "another completion is there"
    ASKED = "model is being asked"
    FUTURE = "produced in the future"


REMEDIES: Mapping[Reason, str] = {
    Reason.UNREADABLE: "Mend the row.",
    Reason.BAD_FIELD: "Mend the field.",
    Reason.REPEATED: "Leave one of the two in: a system completes a context once.",
    Reason.UNKNOWN_CONTEXT: "Compare the key with the list of contexts.",
    Reason.OTHER_DATASET: "Take the row out, or name no dataset.",
    Reason.DROPPED_CONTEXT: "Take the row out, or keep the context in its review.",
    Reason.UNKNOWN_SYSTEM: "Register the system first, or mend its slug.",
    Reason.NO_MODEL: "Name a language model; messages of people come in under Writing.",
    Reason.HAS_COMPLETION: "Take the row out: what is there is never replaced.",
    Reason.ASKED: "Take the row out, or cancel the run that asks for it.",
    Reason.FUTURE: "Mend the date and its zone.",
}


@dataclass(frozen=True)
class Refused:
    """A row that cannot be used: where it is and why, without what stands in it.

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


def refused(position: int, field: str, reason: Reason, why: str = "") -> Refused:
    """Return a refusal; without another word it says its reason."""
    return Refused(position, field, reason, why or reason.value)
