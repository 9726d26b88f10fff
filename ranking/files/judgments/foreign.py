"""Columns of judgments that another tool wrote, or that are ours and not plainly written."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from annotation.tool_files import read_tool_file, side
from ranking.files.judgments.coding import Coded, tidy
from ranking.files.judgments.raw import Format, Places, RawColumns


def read_foreign(
    path: Path, columns: Mapping[str, str], demanded: Sequence[str]
) -> tuple[Format, tuple[str, ...]]:
    """Read the file at once; return a format that gives its columns, and how it was read.

    Raises
    ------
    JudgmentFileError
        As `annotation.tool_files.read_tool_file`.
    """
    found = read_tool_file(path, columns, demanded=demanded)

    def raw(_path: Path, wanted: tuple[str, ...]) -> RawColumns:
        present = [name for name in wanted if any(name in row for row in found.rows)]
        coded = {name: _coded([_text(row.get(name)) for row in found.rows]) for name in present}
        return RawColumns(coded, len(found.rows), len(found.unreadable))

    return Format(raw, lambda _path, _wanted: Places(found.lines, found.unreadable)), found.told


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
