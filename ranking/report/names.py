"""Whose names findings may write: systems and judges by name, people together alone."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from django.db.models import Q
from django.utils.translation import gettext, ngettext

from annotation.choices import Protocol
from annotation.models import Comparison, Judge, Study
from completions.models import System
from ranking.findings import ALL_JUDGES, Cell, Column, ColumnKind, Table
from ranking.plots.tables import Row, as_number

TOKEN = re.compile(r"[\w-]+")
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Name:
    """What a system or a judge is called, and whether it is simulated."""

    text: str
    is_simulated: bool = False


@dataclass(frozen=True)
class Names:
    """Systems and judges by slug, and the pseudonyms of the people who judged.

    ``shows_people`` is for staff: everybody else sees people together, never one by one.
    """

    systems: Mapping[str, Name] = field(default_factory=dict)
    judges: Mapping[str, Name] = field(default_factory=dict)
    people: frozenset[str] = frozenset()
    shows_people: bool = False

    def system(self, slug: str) -> Name:
        """Return the name of a system; one that is gone keeps its slug."""
        return self.systems.get(slug, Name(slug))

    def evaluator(self, code: str) -> Name:
        """Return the name of a judge, or a rater's pseudonym."""
        return self.judges.get(code, Name(gettext(code) if code == ALL_JUDGES else code))

    def of_cell(self, cell: Cell, kind: ColumnKind) -> Name | None:
        """Return the name of the system or the evaluator that a cell holds, if it holds one."""
        if not isinstance(cell, str):
            return None
        if kind is ColumnKind.SYSTEM:
            return self.system(cell)
        return self.evaluator(cell) if kind is ColumnKind.EVALUATOR else None

    def of_column(self, key: str) -> Name | None:
        """Return the name of the system or the judge that a column is about, if it is about one."""
        return self.systems.get(key) or self.judges.get(key)

    def is_hidden(self, code: object) -> bool:
        """Say whether this is an evaluator whom the reader does not see alone."""
        is_public = code in self.judges or code == ALL_JUDGES
        return not self.shows_people and not is_public

    def is_hidden_column(self, key: str) -> bool:
        """Say whether a column is about one person whom the reader does not see alone."""
        return not self.shows_people and key in self.people

    def without_people(self, text: str) -> str:
        """Return words in which no pseudonym stands, unless the reader may see them."""
        if self.shows_people or not self.people:
            return text
        return TOKEN.sub(lambda found: self._said(found[0]), text)

    def _said(self, token: str) -> str:
        if token in self.people:
            return gettext("one person")
        return WORD.sub(lambda f: gettext("one person") if f[0] in self.people else f[0], token)


def names_in(study: Study, *, shows_people: bool) -> Names:
    """Return the names that findings of the study may hold. Two queries; three for the public."""
    rated = Q(ratings__fit__study=study)
    if study.protocol == Protocol.LIKERT:  # which has means of systems without a rating
        rated = Q(completions__in=Comparison.objects.filter(study=study).values("first"))
    systems = System.objects.filter(rated).distinct()
    people = () if shows_people else study.raters.values_list("code", flat=True)
    return Names(
        systems={one.slug: Name(one.name, one.is_simulated) for one in systems},
        judges={one.slug: Name(one.name, one.is_simulated) for one in Judge.objects.all()},
        people=frozenset(people),
        shows_people=shows_people,
    )


FEWEST_TOGETHER = 5  # fewer people would see themselves in a median


def public_table(table: Table, names: Names) -> tuple[Table, int]:
    """Return the table as this reader may have it, and how many people are not shown alone.

    Rows about one person each become a row of medians, if it is of enough people; columns about
    one person are left out.
    """
    kept = [n for n, one in enumerate(table.columns) if not names.is_hidden_column(one.key)]
    table = replace(
        table,
        title=names.without_people(table.title),
        caption=names.without_people(table.caption),
        columns=tuple(table.columns[n] for n in kept),
        rows=tuple(tuple(_clean(row[n], names) for n in kept) for row in table.rows),
    )
    about = [n for n, one in enumerate(table.columns) if one.kind is ColumnKind.EVALUATOR]
    rows, hidden = list[Row](), list[Row]()
    for row in table.rows:
        is_hidden = any(names.is_hidden(row[n]) for n in about)
        (hidden if is_hidden else rows).append(row)
    n_people = len({tuple(row[n] for n in about) for row in hidden})
    if n_people >= FEWEST_TOGETHER and len(about) == 1 and n_people == len(hidden):
        rows.append(_together(table.columns, hidden))
    return replace(table, rows=tuple(rows)), n_people


def _clean(cell: Cell, names: Names) -> Cell:
    """Take pseudonyms out of words; a cell that is a pseudonym alone is about that person."""
    is_words = isinstance(cell, str) and cell not in names.people
    return names.without_people(str(cell)) if is_words else cell


def _together(columns: Sequence[Column], rows: Sequence[Row]) -> Row:
    """Return one row of medians for rows about people."""
    text = ngettext("%(n)s person, median", "%(n)s people, median", len(rows))
    text %= {"n": f"{len(rows):,}"}
    return tuple(
        text if column.kind is ColumnKind.EVALUATOR else _median([row[n] for row in rows])
        for n, column in enumerate(columns)
    )


def _median(cells: Sequence[Cell]) -> float | None:
    numbers = [number for number in map(as_number, cells) if number is not None]
    return median(numbers) if numbers else None
