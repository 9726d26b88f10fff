"""Go through a file of judgments that any tool wrote, row by row, or refuse it in words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from annotation.tool_files.layouts import LAYOUTS, OURS, Layout, has_questions, layout_of
from completions.files.reading import named, read
from completions.files.records import FileEntry
from completions.files.refusals import InputFileError, counted, shown

SHOWN, SEVERAL = 10, 2


class JudgmentFileError(Exception):
    """The file cannot be read as judgments; the message says why and, if it can, where."""


@dataclass(frozen=True)
class RowFault:
    """What is wrong with one row, and the line of the file on which the row begins."""

    line: int
    reason: str


def bad_rows(faults: Sequence[RowFault], *, total: int, place: str = "line") -> JudgmentFileError:
    """Return the refusal that lists the first bad rows and says how many there are."""
    listed = sorted(faults, key=lambda fault: fault.line)[:SHOWN]
    lines = [f"{place} {fault.line}: {fault.reason}" for fault in listed]
    if total > len(lines):
        lines.append(f"and {total - len(lines)} more")
    rows = "1 row is not a judgment" if total == 1 else f"{total} rows are not judgments"
    return JudgmentFileError("\n  ".join([f"{rows}, so nothing was done:", *lines]))


MOST_NAMED = 20


@dataclass
class ToolFile:
    """The judgments of a file in our columns, the line of each, and how they were read."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    unreadable: list[RowFault] = field(default_factory=list)
    layouts: dict[str, str] = field(default_factory=dict)
    """What the layouts found mean, by their names."""
    ties: Counter[str] = field(default_factory=Counter)
    question: str | None = None
    """The one that is read, if somebody named it."""
    questions: set[str] = field(default_factory=set)
    """Those that the file has answers to."""
    n_without_context: int = 0
    place: str = "line"
    """What ``lines`` count: rows, where lines are no records."""

    @property
    def told(self) -> tuple[str, ...]:
        """Say what was recognised and what was assumed."""
        lines = [f"Read as {name}: {says}." for name, says in self.layouts.items()]
        lines += [f'Called "{word}": {counted(n, "tie")}.' for word, n in sorted(self.ties.items())]
        if self.n_without_context:
            lines.append(
                "A context of its own for each that names none: "
                f"{counted(self.n_without_context, 'judgment')}."
            )
        return tuple(lines)


def columns_named(text: str) -> dict[str, str]:
    """Read which columns of a file stand for which of ours: OURS=THEIRS, with commas between.

    Raises
    ------
    ValueError
        If it is written otherwise.
    """
    pairs = [[part.strip() for part in one.partition("=")] for one in text.split(",")]
    named = {ours: theirs for ours, _, theirs in pairs}
    if not all(ours and theirs for ours, _, theirs in pairs) or len(named) < len(pairs):
        msg = "name columns as OURS=THEIRS, each of ours once, with commas between them"
        raise ValueError(msg)
    return named


def read_tool_file(
    source: Path | BinaryIO,
    columns: Mapping[str, str],
    *,
    demanded: Sequence[str] = OURS,
    layouts: Sequence[Layout] = LAYOUTS,
    wanted: Sequence[str] = (),
) -> ToolFile:
    """Read a file of judgments in one of the layouts.

    ``columns`` says which of the file's columns stand for which of ours, its ``winner`` which of
    several questions is read, and ``demanded`` which of ours are named where the layout is not
    known. Rows have the ``wanted`` columns alone, if any are named: a million with all would take
    a gigabyte more.

    Raises
    ------
    JudgmentFileError
        If the file cannot be read, its first row is in no known layout, or it has several
        questions and none of them is named.
    """
    found, layout = ToolFile(question=columns.get("winner")), None
    try:
        for entry in read(source):
            found.place = "row" if entry.line is None else found.place
            row = _row(entry)
            if isinstance(row, str):
                found.unreadable.append(RowFault(_line(entry), row))
                continue
            row = _renamed(row, columns)
            layout = layout or _recognised(row, demanded, layouts)
            _add(found, layout, row, _line(entry), wanted)
    except InputFileError as error:
        msg = f"The file {error}."
        raise JudgmentFileError(msg) from error
    _refuse_several(found)
    return found


def _refuse_several(found: ToolFile) -> None:
    """Refuse answers to several questions, unless one is named: none is another's judgment."""
    if found.question in found.questions or (
        found.question is None and len(found.questions) < SEVERAL
    ):
        return
    if names := sorted(map(shown, found.questions - {""})):
        which = f"say which, such as --columns winner={names[0]}"
        msg = f"The file answers {', '.join(names)}: {which}."
        raise JudgmentFileError(msg)
    if found.questions:
        msg = f"The file names no question: leave winner={found.question} out of the columns."
        raise JudgmentFileError(msg)


def _add(
    found: ToolFile, layout: Layout, row: Mapping[str, Any], line: int, wanted: Sequence[str]
) -> None:
    """Add the judgments of one row."""
    try:
        judgments = list(layout.judgments(row))
        for one in (row, *judgments):  # pages and terminals repeat what they say
            "".join(value for value in one.values() if isinstance(value, str)).encode()
    except UnicodeEncodeError:
        found.unreadable.append(RowFault(line, "contains half of a surrogate pair"))
        return
    except (KeyError, TypeError, ValueError, AttributeError):
        found.unreadable.append(RowFault(line, f"not as {layout.name} are"))
        return
    if has_questions(row):
        found.questions.update(one["asked"] for one in judgments)
        judgments = [one for one in judgments if found.question in (None, one.pop("asked"))]
    for judgment in judgments:
        if judgment.get("context_id") in (None, ""):
            judgment["context_id"] = f"line {line}"
            found.n_without_context += 1
        found.layouts[layout.name] = layout.says
        said = row.get("winner")
        if judgment["winner"] == "tie" and isinstance(said, str) and said.strip() != "tie":
            found.ties[said.strip()] += 1
        found.rows.append({name: judgment[name] for name in wanted or judgment if name in judgment})
        found.lines.append(line)


def _line(entry: FileEntry) -> int:
    return entry.number if entry.line is None else entry.line


def _row(entry: FileEntry) -> dict[str, Any] | str:
    """Return a record with its names as those of tables are spelled, or say why there is none."""
    if not isinstance(entry.value, dict):
        return entry.fault or "no object"
    row = {named(str(name)): value for name, value in entry.value.items()}
    return row if len(row) == len(entry.value) else "two of its names differ in spelling alone"


def _renamed(row: dict[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Return the row with our names for the columns that somebody named.

    Raises
    ------
    JudgmentFileError
        If the row has none of that name.
    """
    for ours, theirs in columns.items():
        if ours == "winner" and has_questions(row):
            continue
        if named(theirs) not in row:
            msg = f"The file has no column {theirs}; {_names(row)}."
            raise JudgmentFileError(msg)
        row = {**row, ours: row[named(theirs)]}
    return row


def _recognised(
    row: Mapping[str, Any], demanded: Sequence[str], layouts: Sequence[Layout]
) -> Layout:
    if (layout := layout_of(row, layouts)) is not None:
        return layout
    missing = [name for name in demanded if name not in row]
    known = ", ".join(one.name for one in layouts)
    msg = (
        f"The file has no {'column' if len(missing) == 1 else 'columns'} {', '.join(missing)}. "
        f"Say which of its columns they are, such as --columns {missing[0]}=NAME; {_names(row)}. "
        f"Layouts that are known: {known}."
    )
    raise JudgmentFileError(msg)


def _names(row: Mapping[str, Any]) -> str:
    shown = [*row][:MOST_NAMED]
    if not shown:
        return "its first row names no column"
    return f"its columns are {', '.join(shown)}{' and others' if len(row) > len(shown) else ''}"
