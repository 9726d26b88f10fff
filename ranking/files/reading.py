"""Reading a file of judgments, another tool's too: all of it, or a refusal that names rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from annotation.tool_files.layouts import side, spelled
from annotation.tool_files.reading import (
    SHOWN,
    JudgmentFileError,
    RowFault,
    ToolFile,
    bad_rows,
    read_tool_file,
)
from completions.files.refusals import alike
from ranking.files import formats
from ranking.files.judgments import (
    COUNTS,
    KINDS,
    WINNERS,
    Broken,
    Coded,
    FileJudgments,
    Format,
    Places,
    RawColumns,
    broken_rows,
    coded_texts,
    size,
    tidy,
    together,
)
from ranking.numerics.arrays import Booleans, Integers

JSONL = Format(formats.read_jsonl, formats.places_of_jsonl)
FORMATS: Mapping[str, Format] = {
    ".csv": Format(formats.read_csv, formats.places_of_csv),
    ".jsonl": JSONL,
    ".ndjson": JSONL,
    ".parquet": Format(formats.read_parquet, formats.places_of_parquet, place="row"),
}
PARQUET, PACKED, LOOKED_AT = b"PAR1", b"\x1f\x8b", 4096
SPELLED = ("system_a", "system_b", "rater_id")
NO_COLUMNS: Mapping[str, str] = {}
NOT_COUNTING = ("false", "False", "FALSE", "0")
REQUIRED = ("context_id", "system_a", "system_b", "winner")


@dataclass(frozen=True)
class ReadOptions:
    """Which columns a command needs, besides those that every judgment has.

    ``required`` ones must be there with text in every row; ``optional`` ones may be missing, or
    empty throughout. ``unit`` names the column of independent units, ``by`` that to rank by.
    """

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ("strength", "judge_kind")
    unit: str = "context_id"
    by: str | None = None

    @property
    def demanded(self) -> tuple[str, ...]:
        """Return the columns that must be there, each once."""
        named = [*REQUIRED, *self.required, self.unit, *([self.by] if self.by else [])]
        return tuple(dict.fromkeys(named))

    @property
    def all(self) -> tuple[str, ...]:
        """Return all columns to look for, each once."""
        return tuple(dict.fromkeys([*self.demanded, *self.optional, COUNTS]))

    def refuse_unknown(self, columns: Mapping[str, str]) -> None:
        """Refuse a column that was named and that nothing would read."""
        known = dict.fromkeys([*self.demanded, "strength", "rater_id", "judge_kind", "pair_id"])
        if unknown := columns.keys() - {*known, COUNTS}:
            msg = f"--columns names {', '.join(sorted(unknown))}; ours are {', '.join(known)}."
            raise JudgmentFileError(msg)


def read_judgments(
    path: Path, options: ReadOptions, columns: Mapping[str, str] = NO_COLUMNS
) -> FileJudgments:
    """Read the judgments of a file, in our columns or in the layout of another tool.

    ``columns`` says which of the file's columns stand for which of ours.

    Raises
    ------
    JudgmentFileError
        If a column is none of ours, or the file is none of these, misses a column, or has a row
        that is no judgment; then the message lists the first ten of those with their lines, and
        their number.
    """
    if not path.is_file():
        msg = "That is not a file." if path.exists() else "There is no such file."
        raise JudgmentFileError(msg)
    options.refuse_unknown(columns)
    try:
        form, raw, told = _read(path, options, columns)
        _refuse_missing(raw, options)
        raw = _spelled(raw)
        counting = _counting(raw)
        raw = _of_rows(raw, counting)
        _refuse_bad_rows(path, form, raw, options, counting)
    except OSError as error:
        msg = f"The file cannot be read: {error.strerror or error}."
        raise JudgmentFileError(msg) from error
    n_not_counting = len(counting) - raw.n_rows
    found = replace(_judgments(raw, options), n_not_counting=n_not_counting)
    return replace(found, told=(*told, *_look_alikes(found)))


def _read(
    path: Path, options: ReadOptions, columns: Mapping[str, str]
) -> tuple[Format, RawColumns, tuple[str, ...]]:
    """Read a plain file of ours at once, and any other row by row; say how that was read."""
    form = FORMATS.get(path.suffix.lower())
    if form is not None and not columns and _is_plain(path):
        raw = form.read(path, options.all)
        if raw.n_rows == 0 or _is_ours(raw.columns):
            return form, raw, ()
    return _foreign(path, columns, options)


def _is_ours(columns: Mapping[str, Coded]) -> bool:
    """Whether all columns are there, and no winner is told by the name of a system."""
    if not all(name in columns for name in REQUIRED):
        return False
    names = {*winners(columns["winner"]).values} - WINNERS.keys()
    return not names or not names <= {*columns["system_a"].values, *columns["system_b"].values}


def _is_plain(path: Path) -> bool:
    """Whether the beginning is that of a file which is read at once: ours, in UTF-8 or Parquet."""
    with path.open("rb") as file:
        first = file.read(LOOKED_AT)
    if first.startswith(PARQUET):
        return True
    if first.startswith(PACKED) or b"\x00" in first:
        return False
    line, end, _ = first.lstrip().partition(b"\n")
    line = line.strip()
    if path.suffix.lower() == ".csv":
        is_odd = line.endswith((b",", b";", b"\t")) or line.lower().startswith(
            (b"sep=", b"[", b"{")
        )
        return bool(end) and not is_odd
    return not line.startswith(b"[") and line != b"{"


def _spelled(raw: RawColumns) -> RawColumns:
    """Return the columns with names in one spelling, and winners in our words."""
    columns = dict(raw.columns)
    for name in SPELLED:
        if name in columns:
            column = columns[name]
            columns[name] = tidy(map(spelled, column.values), column.codes)
    if "winner" in columns:
        columns["winner"] = winners(columns["winner"])
    return replace(raw, columns=columns)


def _look_alikes(found: FileJudgments) -> list[str]:
    """Warn of names that are different and hardly look it."""
    named = {"Systems": found.systems, "Raters": () if found.rater is None else found.rater.values}
    return [
        f"{what} that differ only in case, width, punctuation or spaces count as different: "
        f"{', '.join(group)}."
        for what, names in named.items()
        for group in alike(names)[:SHOWN]
    ]


def _refuse_missing(raw: RawColumns, options: ReadOptions) -> None:
    """Refuse a file without rows, or without a column that must be there."""
    if raw.n_rows == 0 and raw.n_unreadable == 0:
        msg = "The file has no judgments."
        raise JudgmentFileError(msg)
    missing = [name for name in options.demanded if name not in raw.columns]
    if missing and raw.n_rows:
        columns = "column" if len(missing) == 1 else "columns"
        msg = f"The file has no {columns} {', '.join(missing)}: try --columns {missing[0]}=NAME."
        raise JudgmentFileError(msg)


def _counting(raw: RawColumns) -> Booleans:
    """Say of each row whether it counts: all do but those that say they do not."""
    column = raw.columns.get(COUNTS)
    if column is None:
        return np.ones(raw.n_rows, dtype=np.bool_)
    return ~column.among(NOT_COUNTING)


def _of_rows(raw: RawColumns, kept: Booleans) -> RawColumns:
    """Return the rows that are kept; one at least, if there are any.

    Raises
    ------
    JudgmentFileError
        If there are rows, and none counts.
    """
    n_kept = int(kept.sum())
    if n_kept == raw.n_rows:
        return raw
    if n_kept == 0:
        msg = f"No row counts: the column {COUNTS} says so of each."
        raise JudgmentFileError(msg)
    columns = {name: column.taken(kept) for name, column in raw.columns.items()}
    return replace(raw, columns=columns, n_rows=n_kept)


def _refuse_bad_rows(
    path: Path, form: Format, raw: RawColumns, options: ReadOptions, counting: Booleans
) -> None:
    columns = _given(raw.columns, options)
    required = tuple(
        name for name in dict.fromkeys((*options.demanded, "rater_id")) if name in columns
    )
    broken = list(broken_rows(columns, required)) if raw.n_rows else []
    rows = sorted({row for one in broken for row in one.rows.tolist()})
    total = len(rows) + raw.n_unreadable
    if total:
        places, place = form.places(path, options.all), form.place
        if len(places.lines) != len(counting):  # some line holds two records, or a part of one
            places, place = Places([*range(1, len(counting) + 1)], []), "row"
        lines = [places.lines[row] for row in np.flatnonzero(counting)]
        faults = _faults(rows[:SHOWN], broken, Places(lines, places.unreadable))
        raise bad_rows(faults, total=total, place=place)


def _faults(rows: Iterable[int], broken: Iterable[Broken], places: Places) -> list[RowFault]:
    """Say what is wrong with each of the rows, and add those that could not be read."""
    sets = [(set(one.rows.tolist()), one.reason) for one in broken]
    found = [
        RowFault(places.lines[row], "; ".join(reason(row) for bad, reason in sets if row in bad))
        for row in rows
    ]
    return [*found, *places.unreadable]


def _given(columns: Mapping[str, Coded], options: ReadOptions) -> dict[str, Coded]:
    """Return the columns without optional ones that are empty throughout."""
    return {
        name: column
        for name, column in columns.items()
        if name in options.demanded or not column.is_empty
    }


def _judgments(raw: RawColumns, options: ReadOptions) -> FileJudgments:
    columns = _given(raw.columns, options)
    systems, one, other = together(columns["system_a"], columns["system_b"])
    shown = np.where(one < other, 1, -1)
    kind = columns.get("judge_kind")
    judgments = FileJudgments(
        systems=systems,
        first=np.minimum(one, other),
        second=np.maximum(one, other),
        verdict=columns["winner"].mapped(WINNERS) * shown,
        size=_sizes(columns.get("strength"), raw.n_rows),
        shown=shown,
        unit=columns[options.unit],
        context=columns["context_id"],
        pair=columns.get("pair_id"),
        rater=columns.get("rater_id"),
        group=columns[options.by] if options.by else None,
        is_judge=None if kind is None else kind.mapped(KINDS) == 1,
    )
    return _with_verdict(judgments, columns["winner"].among([""]))


def _sizes(strength: Coded | None, n_rows: int) -> Integers:
    if strength is None:
        return np.zeros(n_rows, dtype=np.int64)
    return strength.mapped({value: size(value) or 0 for value in strength.values})


def _with_verdict(judgments: FileJudgments, without: Booleans) -> FileJudgments:
    """Leave out rows whose winner is empty: their evaluator gave no answer."""
    n_without = int(without.sum())
    if n_without == judgments.n_judgments:
        msg = "No row has a winner."
        raise JudgmentFileError(msg)
    if n_without == 0:
        return judgments
    return replace(judgments.where(~without), n_without_verdict=n_without)


def _foreign(
    path: Path, columns: Mapping[str, str], options: ReadOptions
) -> tuple[Format, RawColumns, tuple[str, ...]]:
    """Read the file row by row; return where its rows stand, its columns, and how it was read."""
    found = read_tool_file(path, columns, demanded=options.demanded, wanted=options.all)
    names = [name for name in options.all if any(name in row for row in found.rows)]
    rows, places = _plain_rows(found, names)
    coded = dict(zip(names, map(coded_texts, zip(*rows, strict=True)), strict=False))
    raw = RawColumns(coded, len(rows), len(places.unreadable))
    form = Format(lambda _path, _names: raw, lambda _path, _names: places, found.place)
    return form, raw, found.told


def _plain_rows(found: ToolFile, names: list[str]) -> tuple[list[tuple[str, ...]], Places]:
    rows, places = list[tuple[str, ...]](), Places([], found.unreadable)
    found.rows.reverse()  # each is let go once it was read: many would not fit into memory twice
    for line in found.lines:
        row = found.rows.pop()
        try:
            rows.append(tuple(formats.text_of(name, row.get(name)) or "" for name in names))
            places.lines.append(line)
        except formats.LineError as error:
            places.unreadable.append(RowFault(line, str(error)))
    return rows, places


def winners(column: Coded) -> Coded:
    """Return the winners in our words, where they are ours in another case."""
    known = [side(value) for value in column.values]
    values = [one if said is None else said for one, said in zip(column.values, known, strict=True)]
    return tidy(values, column.codes)
