"""What somebody asks for when they export."""

from dataclasses import dataclass, field
from enum import StrEnum


class ExportRefusedError(ValueError):
    """The export cannot be had; the message says why."""


class ExportFormat(StrEnum):
    """How an export is written; the value is the end of its name."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"

    @property
    def label(self) -> str:
        """Return its name as people write it."""
        return "Parquet" if self is ExportFormat.PARQUET else self.name


FORMS = {
    ExportFormat.CSV: "text/csv; charset=utf-8",
    ExportFormat.JSONL: "application/x-ndjson; charset=utf-8",
    ExportFormat.PARQUET: "application/vnd.apache.parquet",
}
"""Forms with the types of their content."""


SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Rule:
    """Which pairs are wanted, and how they are divided.

    ``least_agreement`` (0 to 1) is of the votes that count, ``least_judgments`` of judgments.
    With ``leaves_ties_out`` votes for neither are left out of the shares. ``validation`` and
    ``test`` are shares of source dialogues, 0 to 1; the rest is for training.
    """

    pool: str = "HUMAN"
    least_agreement: float = 0.5
    least_judgments: int = 1
    leaves_ties_out: bool = False
    validation: float = 0.1
    test: float = 0.1


@dataclass(frozen=True)
class ExportRequest:
    """What is wanted of an export, besides the study.

    ``is_blinded`` leaves out which system wrote what, ``with_rationales`` keeps the words of
    reasons; ``rule`` says which preference pairs are wanted, ``split`` which part of them.
    """

    is_blinded: bool = False
    with_rationales: bool = True
    rule: Rule = field(default_factory=Rule)
    split: str = ""
