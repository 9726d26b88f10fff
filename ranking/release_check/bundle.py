"""The files of a release, read."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ranking.released.tables import BY_NAME, FORMAT, TABLES, ReleaseTable

Row = Mapping[str, Any]


class UnreadableError(Exception):
    """A file of a release cannot be read; the message names it and says why."""


@dataclass(frozen=True)
class Bundle:
    """A release: its folder, what it says of itself, and its tables by their names."""

    folder: Path
    about: Mapping[str, Any]
    tables: Mapping[str, tuple[Row, ...]]

    @classmethod
    def read(cls, folder: Path) -> "Bundle":
        """Read a release.

        Raises
        ------
        UnreadableError
            If it is no release of a format that is known, or a file of it cannot be read.
        """
        about = read_document(folder, "release.json")
        if about.get("format") != FORMAT:
            msg = f"release.json: the format is {about.get('format')!r} and not {FORMAT!r}"
            raise UnreadableError(msg)
        return cls(folder, about, {one.name: _rows_of(folder, one) for one in TABLES})

    def document(self, name: str) -> Mapping[str, Any]:
        """Return a file of JSON."""
        return read_document(self.folder, name)

    def by_key(self, table: str) -> Mapping[str, Row]:
        """Return the rows of a table by its key."""
        return self._indices[table]

    @cached_property
    def frames(self) -> dict[tuple[str, str], Any]:
        """Hold what `frame_of` made of the tables."""
        return {}

    @cached_property
    def _indices(self) -> dict[str, dict[str, Row]]:
        return {
            name: {row[BY_NAME[name].key]: row for row in rows}
            for name, rows in self.tables.items()
        }


def _rows_of(folder: Path, table: ReleaseTable) -> tuple[Row, ...]:
    if table.is_optional and not (folder / table.path).exists():
        return ()
    return tuple(read_rows(folder, table.path))


def read_document(folder: Path, name: str) -> Mapping[str, Any]:
    """Return a file of JSON that holds an object.

    Raises
    ------
    UnreadableError
        If it is not there or holds something else.
    """
    try:
        found = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        msg = f"{name}: cannot be read ({error})"
        raise UnreadableError(msg) from error
    if not isinstance(found, dict):
        msg = f"{name}: holds no object"
        raise UnreadableError(msg)
    return found


def read_rows(folder: Path, name: str) -> Iterator[Row]:
    """Yield the rows of a file of JSON lines.

    Raises
    ------
    UnreadableError
        If it is not there, or a line holds something else.
    """
    try:
        with (folder / name).open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                row = json.loads(line)
                if not isinstance(row, dict):
                    msg = f"{name}: line {number} holds no object"
                    raise UnreadableError(msg)
                yield row
    except (OSError, ValueError, RecursionError) as error:
        msg = f"{name}: cannot be read ({error})"
        raise UnreadableError(msg) from error
