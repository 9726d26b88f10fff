"""What is said of a column, and of a table."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

PER_DIMENSION = "<dimension>"


class Kind(StrEnum):
    """Which type the values of a column have; any may be missing."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    TIME = "time"
    JSON = "json"


@dataclass(frozen=True)
class Column:
    """One column of an export.

    ``values`` lists what may stand in it, where that is a list; ``unit`` is of a number. A
    ``name`` that ends in ``<dimension>`` stands for one column per dimension of the rubric.
    """

    name: str
    kind: Kind
    meaning: str
    values: tuple[str, ...] = ()
    unit: str = ""
    shows_system: bool = False

    def of(self, dimensions: Sequence[str]) -> tuple["Column", ...]:
        """Return the columns of a study with these dimensions that it stands for."""
        if not self.name.endswith(PER_DIMENSION):
            return (self,)
        stem = self.name.removesuffix(PER_DIMENSION)
        return tuple(replace(self, name=f"{stem}{key}") for key in dimensions)


@dataclass(frozen=True)
class Table:
    """One export: its name in addresses, what a row is, and its columns in order."""

    name: str
    title: str
    row: str
    columns: tuple[Column, ...]
    is_nested: bool = False

    def of(
        self, dimensions: Sequence[str] = (), *, without: Collection[str] = ()
    ) -> tuple[Column, ...]:
        """Return the columns of a study with these dimensions, without some."""
        kept = (column for column in self.columns if column.name not in without)
        return tuple(one for column in kept for one in column.of(dimensions))


def text(name: str, meaning: str, *values: str) -> Column:
    """Return a column of text."""
    return Column(name, Kind.TEXT, meaning, values)


def flag(name: str, meaning: str) -> Column:
    """Return a column of yes and no."""
    return Column(name, Kind.BOOLEAN, meaning, ("true", "false"))


def count(name: str, meaning: str, *, unit: str = "") -> Column:
    """Return a column of whole numbers."""
    return Column(name, Kind.INTEGER, meaning, unit=unit)


def time(name: str, meaning: str) -> Column:
    """Return a column of times."""
    return Column(name, Kind.TIME, meaning, unit="UTC, ISO 8601")


def system(name: str, meaning: str) -> Column:
    """Return a column of text that says which system it was."""
    return Column(name, Kind.TEXT, meaning, shows_system=True)


STUDY_COLUMNS = (
    text("study", "slug of the study"),
    flag("is_simulated_study", "the study's raters are programs"),
)
