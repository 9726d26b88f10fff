"""What every format gives: columns of text, and where each row stands in the file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from annotation.tool_files import Fault
from ranking.files.judgments.coding import Coded


@dataclass(frozen=True)
class RawColumns:
    """Columns by name, of equal length; those that the file has not are left out.

    Rows that cannot be read at all are left out as well, and counted in ``n_unreadable``.
    """

    columns: Mapping[str, Coded]
    n_rows: int
    n_unreadable: int = 0


@dataclass(frozen=True)
class Places:
    """The line of each row that could be read, in order, and what is wrong with the others."""

    lines: list[int]
    unreadable: list[Fault]


@dataclass(frozen=True)
class Format:
    """A kind of file; a module of this package for each.

    ``read`` reads the wanted columns, as far as the file has them, or raises JudgmentFileError.
    ``places`` finds out where each row stands; it is slow, and asked only when a row is bad.
    Rows are counted in ``place``: lines of text, or rows.
    """

    read: Callable[[Path, tuple[str, ...]], RawColumns]
    places: Callable[[Path, tuple[str, ...]], Places]
    place: str = "line"
