"""A study from plain values, such as a form gives: checked as a file is, faults by field."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from annotation.studies.protocol.study import StudyProtocol

STORED_ONLY = ("rubric", "normaliser", "seed_sha256")
"""What stored content has in another shape than a file, or beside it."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with one field; ``field`` is its dotted path, empty for the whole study."""

    field: str
    reason: str


class FaultyError(ValueError):
    """The values are no study; ``faults`` say why, field by field."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("; ".join(f"{one.field}: {one.reason}" for one in faults))
        self.faults = faults


def check_values(values: Mapping[str, Any]) -> StudyProtocol:
    """Return the study that plain values make, by the rules of study files.

    Raises
    ------
    FaultyError
        If a field is missing, unknown or out of range.
    """
    try:
        return StudyProtocol.model_validate(values)
    except ValidationError as error:
        raise FaultyError(
            tuple(
                Fault(".".join(map(str, one["loc"])), one["msg"].removeprefix("Value error, "))
                for one in error.errors()
            )
        ) from error


def values_of(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the study file that stored content was made from, but for its seed, as values."""
    rubric = content["rubric"]
    written = {key: value for key, value in content.items() if key not in STORED_ONLY}
    return {**written, "rubric": f"{rubric['name']}-{rubric['version']}"}
