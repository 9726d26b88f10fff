"""What somebody asks for when they export."""

from dataclasses import dataclass, field
from enum import StrEnum

from ranking.exports.preferences import Rule


class ExportRefusedError(ValueError):
    """The export cannot be had; the message says why."""


class ExportFormat(StrEnum):
    """How an export is written; the value is the end of its name."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


FORMS = {
    ExportFormat.CSV: "text/csv; charset=utf-8",
    ExportFormat.JSONL: "application/x-ndjson; charset=utf-8",
    ExportFormat.PARQUET: "application/vnd.apache.parquet",
}
"""Forms with the types of their content."""


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
