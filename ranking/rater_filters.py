"""Which raters the console lists, and in which order, as its address says."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext_lazy as _

from ranking.rater_rows import RaterRow

Key = Callable[[RaterRow], Any]

COLUMNS: Mapping[str, tuple[object, Key]] = {
    "code": (_("Rater"), lambda row: row.code),
    "answers": (_("Answers"), lambda row: row.n_answers),
    "seconds": (_("Median time"), lambda row: row.median_seconds),
    "checks": (_("Checks passed"), lambda row: row.passed_share),
    "side": (_("Chose A"), lambda row: row.share_a),
    "infit": (_("Infit"), lambda row: row.infit),
    "agreement": (_("Agrees"), lambda row: row.agreement),
    "findings": (_("Findings"), lambda row: len(row.findings)),
    "standing": (_("Standing"), lambda row: row.standing),
}
STANDINGS: Mapping[str, object] = {
    "in": _("In, nothing found"),
    "warned": _("In, with a warning"),
    "going": _("Would be left out"),
    "out": _("Left out"),
}


class UnknownFilterError(ValueError):
    """The address asks for a standing or an order that does not exist."""


@dataclass(frozen=True)
class Column:
    """The head of a column: where it leads, and how the table is sorted by it now."""

    name: str
    label: object
    query: str
    direction: str


@dataclass(frozen=True)
class RaterFilter:
    """Which raters are meant; an empty field means all. ``sort`` may begin with a minus."""

    standing: str = ""
    q: str = ""
    sort: str = "code"

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "RaterFilter":
        """Read an address.

        Raises
        ------
        UnknownFilterError
            If the standing or the order is none that exists.
        """
        given = {name: query.get(name, "").strip() for name in asdict(cls())}
        found = cls(**{name: value for name, value in given.items() if value})
        if found.standing not in {"", *STANDINGS} or found.sort.removeprefix("-") not in COLUMNS:
            raise UnknownFilterError(found)
        return found

    @property
    def query(self) -> str:
        """The address' query that means this filter, without its question mark."""
        return urlencode({name: value for name, value in asdict(self).items() if value})

    def apply(self, rows: Sequence[RaterRow]) -> list[RaterRow]:
        """Return the rows meant, in the order meant; what is not known comes last either way."""
        meant = [
            row
            for row in rows
            if self.standing in {"", row.standing} and self.q.casefold() in row.code.casefold()
        ]
        _label, key = COLUMNS[self.sort.removeprefix("-")]
        known = [row for row in meant if key(row) is not None]
        unknown = [row for row in meant if key(row) is None]
        return sorted(known, key=key, reverse=self.sort.startswith("-")) + unknown

    def columns(self) -> list[Column]:
        """Return the heads of the table."""
        return [self._column(name, label) for name, (label, _key) in COLUMNS.items()]

    def _column(self, name: str, label: object) -> Column:
        direction = {name: "ascending", f"-{name}": "descending"}.get(self.sort, "")
        leads_to = f"-{name}" if direction == "ascending" else name
        return Column(name, label, replace(self, sort=leads_to).query, direction)
