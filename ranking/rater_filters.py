"""Which raters the console lists, and in which order, as its address says."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from completions.sorted_tables import Head, SortedTable
from ranking.rater_rows import RaterRow

STANDINGS: Mapping[str, object] = {
    "in": _("In, nothing found"),
    "warned": _("In, with a warning"),
    "going": _("Would be left out"),
    "out": _("Left out"),
}


class UnknownFilterError(ValueError):
    """The address asks for a standing or an order that does not exist."""


@dataclass(frozen=True)
class RaterFilter(SortedTable[RaterRow]):
    """Which raters are meant, and in which order."""

    COLUMNS: ClassVar[Mapping[str, Head]] = {
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

    standing: str = ""
    q: str = ""

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
        if found.standing not in {"", *STANDINGS} or not found.is_sortable:
            raise UnknownFilterError(found)
        return found

    def apply(self, rows: Iterable[RaterRow]) -> list[RaterRow]:
        """Return the rows meant, in the order meant."""
        return self.in_order(row for row in rows if self._means(row))

    def _means(self, row: RaterRow) -> bool:
        return self.standing in {"", row.standing} and self.q.casefold() in row.code.casefold()
