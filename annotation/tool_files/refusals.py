"""Why a file of judgments is refused, in words for whoever made it."""

from collections.abc import Sequence
from dataclasses import dataclass

SHOWN = 10


class JudgmentFileError(Exception):
    """The file cannot be read as judgments; the message says why and, if it can, where."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with one row, and the line of the file on which the row begins."""

    line: int
    reason: str


def bad_rows(faults: Sequence[Fault], *, total: int, place: str = "line") -> JudgmentFileError:
    """Return the refusal that lists the first bad rows and says how many there are."""
    listed = sorted(faults, key=lambda fault: fault.line)[:SHOWN]
    lines = [f"{place} {fault.line}: {fault.reason}" for fault in listed]
    if total > len(lines):
        lines.append(f"and {total - len(lines)} more")
    rows = "1 row is" if total == 1 else f"{total} rows are"
    return JudgmentFileError("\n  ".join([f"{rows} not judgments, so nothing was done:", *lines]))
