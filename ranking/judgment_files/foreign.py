"""Files that are not plainly ours: any encoding, separator or layout, row by row."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from completions.input_files import Entry, InputFileError, named, read
from ranking.judgment_files.coding import Coded, tidy
from ranking.judgment_files.layouts import LAYOUTS, OURS, Layout, layout_of, side
from ranking.judgment_files.raw import Places, RawColumns
from ranking.judgment_files.refusals import Fault, JudgmentFileError

MOST_NAMED = 20


@dataclass
class Foreign:
    """The judgments of a file, where they stand, and how they were read."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    places: Places = field(default_factory=lambda: Places([], []))
    layouts: Counter[str] = field(default_factory=Counter)
    ties: Counter[str] = field(default_factory=Counter)
    says: dict[str, str] = field(default_factory=dict)
    n_without_context: int = 0

    @property
    def told(self) -> tuple[str, ...]:
        """Say what was recognised and what was assumed."""
        lines = [f"Read as {name}: {self.says[name]}." for name in self.layouts]
        lines += [f'{n:,} ties are called "{word}".' for word, n in sorted(self.ties.items())]
        if self.n_without_context:
            lines.append(
                f"{self.n_without_context:,} judgments name no context: each has one of its own."
            )
        return tuple(lines)

    def columns(self, wanted: tuple[str, ...]) -> RawColumns:
        """Return the wanted columns, as far as any judgment has them."""
        present = [name for name in wanted if any(name in row for row in self.rows)]
        columns = {name: _coded([_text(row.get(name)) for row in self.rows]) for name in present}
        return RawColumns(columns, len(self.rows), len(self.places.unreadable))


def read_foreign(path: Path, columns: Mapping[str, str], demanded: Sequence[str] = OURS) -> Foreign:
    """Read a file of judgments in any layout that is known.

    ``columns`` says which of the file's columns stand for which of ours, and ``demanded`` which
    of ours are named where the layout is not known.

    Raises
    ------
    JudgmentFileError
        If the file cannot be read, or its first row is in no known layout.
    """
    found, layout = Foreign(), None
    try:
        for entry in read(path):
            row = _row(entry)
            if row is None:
                found.places.unreadable.append(Fault(_line(entry), entry.fault or "no object"))
                continue
            row = _renamed(row, columns)
            layout = layout or _recognised(row, demanded)
            _add(found, layout, row, _line(entry))
    except InputFileError as error:
        msg = f"The file {error}."
        raise JudgmentFileError(msg) from error
    return found


def _add(found: Foreign, layout: Layout, row: Mapping[str, Any], line: int) -> None:
    """Add the judgments of one row."""
    try:
        judgments = list(layout.judgments(row))
    except (KeyError, TypeError, ValueError, AttributeError):
        found.places.unreadable.append(Fault(line, f"not as {layout.name} are"))
        return
    found.says[layout.name] = layout.says
    for judgment in judgments:
        if judgment.get("context_id") in (None, ""):
            judgment["context_id"] = f"line {line}"
            found.n_without_context += 1
        found.layouts[layout.name] += 1
        said = row.get("winner")
        if judgment["winner"] == "tie" and isinstance(said, str) and said.strip() != "tie":
            found.ties[said.strip()] += 1
        found.rows.append(judgment)
        found.places.lines.append(line)


def _line(entry: Entry) -> int:
    return entry.number if entry.line is None else entry.line


def _row(entry: Entry) -> dict[str, Any] | None:
    """Return a record with its names as those of tables are spelled."""
    if not isinstance(entry.value, dict):
        return None
    return {named(str(name)): value for name, value in entry.value.items()}


def _renamed(row: dict[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Return the row with our names for the columns that somebody named.

    Raises
    ------
    JudgmentFileError
        If the row has none of that name.
    """
    for ours, theirs in columns.items():
        if named(theirs) not in row:
            msg = f"The file has no column {theirs}; {_names(row)}."
            raise JudgmentFileError(msg)
        row = {**row, ours: row[named(theirs)]}
    return row


def _recognised(row: Mapping[str, Any], demanded: Sequence[str]) -> Layout:
    if (layout := layout_of(row)) is not None:
        return layout
    missing = [name for name in demanded if name not in row]
    known = ", ".join(one.name for one in LAYOUTS)
    msg = (
        f"The file has no {'column' if len(missing) == 1 else 'columns'} {', '.join(missing)}. "
        f"Say which of its columns they are, such as --columns {missing[0]}=NAME; {_names(row)}. "
        f"Layouts that are known: {known}."
    )
    raise JudgmentFileError(msg)


def _names(row: Mapping[str, Any]) -> str:
    shown = [*row][:MOST_NAMED]
    return f"its columns are {', '.join(shown)}{' and others' if len(row) > len(shown) else ''}"


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _coded(texts: list[str]) -> Coded:
    place: dict[str, int] = {}
    codes = [place.setdefault(text, len(place)) for text in texts]
    return tidy(place, np.array(codes, dtype=np.int64))


def winners(column: Coded) -> Coded:
    """Return the winners in our words, where they are ours in another case."""
    known = [side(value) for value in column.values]
    values = [one if said is None else said for one, said in zip(column.values, known, strict=True)]
    return tidy(values, column.codes)
