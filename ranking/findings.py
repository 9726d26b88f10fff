"""What an analysis found, as tables that pages, downloads and pictures all draw from."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

Cell = str | int | float | bool | None
ALL_JUDGES = "majority of the judges"
"""Stands among evaluators for what most judges say: nobody's name, and nobody's pseudonym."""


class AnalysisRefusedError(Exception):
    """The judgments do not allow the analysis; the message says why."""


class ColumnKind(StrEnum):
    """How the cells of a column are meant, and so how they are written."""

    TEXT = "text"
    """Words."""

    SYSTEM = "system"
    """The slug of a system; pages write its name and say whether it is simulated."""

    EVALUATOR = "evaluator"
    """A rater's pseudonym, a judge's slug or `ALL_JUDGES`; the public sees judges by name alone."""

    COUNT = "count"
    """A whole number of something."""

    SHARE = "share"
    """Between 0 and 1; written in per cent."""

    ELO = "elo"
    """Points, or a difference of points."""

    NUMBER = "number"
    """Any other number, without unit."""

    P_VALUE = "p"
    """A p-value; its header says whether and how it is adjusted."""

    @property
    def is_words(self) -> bool:
        """Say whether its cells are words and not numbers."""
        return self in {ColumnKind.TEXT, ColumnKind.SYSTEM, ColumnKind.EVALUATOR}


class Picture(StrEnum):
    """How a table may be drawn; without one it is a table alone."""

    NONE = ""
    HEAT = "heat"
    """First column rows, other columns cells of a heat map around their middle."""

    WHISKERS = "whiskers"
    """One line per row: columns keyed ``value``, ``low`` and ``high`` give dot and interval."""

    POINTS = "points"
    """One dot per row: columns keyed ``x`` and ``y``, with the diagonal if they share a kind."""

    LINES = "lines"
    """Lines over ``x``: every other column that is no text is a line."""

    RADAR = "radar"
    """First column the system, every other column of the kind of the second an axis, three or
    more: one line around them per row. All axes share one scale; a ring stands at their mark."""

    FUNNEL = "funnel"
    """One dot per row: ``x`` is how much it rests on, ``y`` the estimate, ``centre``, ``low`` and
    ``high`` what is expected there and between which limits, ``outer_low`` and ``outer_high``
    wider limits, which a table may lack."""


@dataclass(frozen=True)
class Column:
    """One column: its key in downloads, its words on the page, and what its cells are.

    Where it is an axis of a picture, ``is_logarithmic`` asks for equal steps of a factor instead
    of a difference, and ``mark`` is a value at which a line stands.
    """

    key: str
    label: str
    kind: ColumnKind = ColumnKind.NUMBER
    is_logarithmic: bool = False
    mark: float | None = None


@dataclass(frozen=True)
class Table:
    """A table with what a reader needs to read it.

    ``caption`` says in a sentence or two how to read it. A cell that is not known is None.
    """

    key: str
    title: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    picture: Picture = Picture.NONE

    def blanked(self, kind: ColumnKind) -> "Table":
        """Return the table without what stands in columns of that kind."""
        is_told = [column.kind is not kind for column in self.columns]
        rows = (
            tuple(cell if told else None for cell, told in zip(row, is_told, strict=True))
            for row in self.rows
        )
        return replace(self, rows=tuple(rows))


@dataclass(frozen=True)
class Findings:
    """All that one analysis found. ``is_exploratory`` findings are marked as such wherever shown.

    An analysis leaves that as it is: what a study named in advance is for its file to say, and is
    set where findings are read (`ranking.report.confirmatory`).

    ``method`` is one or two sentences: the estimator, its assumptions, its source. ``kept`` is
    stored beside the tables for pages that compute from it; it leaves in no download.
    """

    method: str
    tables: tuple[Table, ...]
    warnings: tuple[str, ...] = ()
    is_exploratory: bool = True
    kept: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the findings as they are stored; what is kept is there if anything is."""
        content = asdict(self)
        return content if self.kept else {key: content[key] for key in content if key != "kept"}

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Findings":
        """Read what ``as_json`` wrote."""
        return cls(
            method=stored["method"],
            tables=tuple(_table(one) for one in stored["tables"]),
            warnings=tuple(stored["warnings"]),
            is_exploratory=stored["is_exploratory"],
            kept=stored.get("kept", {}),
        )


def _table(stored: Mapping[str, Any]) -> Table:
    columns = (Column(**c | {"kind": ColumnKind(c["kind"])}) for c in stored["columns"])
    return Table(
        key=stored["key"],
        title=stored["title"],
        caption=stored["caption"],
        columns=tuple(columns),
        rows=tuple(tuple(row) for row in stored["rows"]),
        picture=Picture(stored["picture"]),
    )
