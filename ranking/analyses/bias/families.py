"""Whether LLM judges prefer systems of their own family more than others do."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ranking.analyses.bias.cells import P_VALUE, adjusted
from ranking.analyses.common import ends, family_of, interval_cells, mean_of
from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.sources import SystemFacts
from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.clustered_means import ClusteredMean

UNNAMED = "no family"
MOST_FAMILIES = 30


@dataclass(frozen=True)
class Makers:
    """Families of the systems' makers; indices into ``names``.

    ``of_system`` has shape (n_systems,), ``of_evaluator`` (n_evaluators,) with -1 for people.
    """

    names: tuple[str, ...]
    of_system: Integers
    of_evaluator: Integers

    @property
    def of_judges(self) -> list[int]:
        """Return the families that have a judge."""
        return sorted({int(one) for one in self.of_evaluator if one >= 0})

    @property
    def of_authors(self) -> list[int]:
        """Return the families that have a system."""
        return sorted({int(one) for one in self.of_system})


@dataclass(frozen=True)
class FamilyPreference:
    """What a family's judges and all others said of an author family on the same pairs.

    Net preferences are means over pairs, from -1 to 1; ``gap`` is None where there is no error.
    """

    n_pairs: int
    own: float
    others: float
    gap: ClusteredMean | None


def makers(
    columns: JudgmentColumns, systems: Mapping[str, SystemFacts], judges: Mapping[str, str]
) -> Makers:
    """Name the families of systems and judges."""
    of_system = [systems[slug].family or UNNAMED for slug in columns.systems]
    of_judge = [
        (judges.get(slug) or UNNAMED) if is_judge else ""
        for slug, is_judge in zip(columns.evaluators, columns.is_judge.tolist(), strict=True)
    ]
    names = tuple(sorted({*of_system, *of_judge} - {""}))
    place = {name: index for index, name in enumerate(names)} | {"": -1}
    return Makers(
        names,
        np.array([place[one] for one in of_system], dtype=np.int64),
        np.array([place[one] for one in of_judge], dtype=np.int64),
    )


def family_tables(columns: JudgmentColumns, found: Makers, level: float) -> list[Table]:
    """Return own families, and all families of judges by those of authors; none without judges."""
    if not found.of_judges:
        return []
    tables = [_own_table(columns, found, level)]
    if len(found.of_authors) <= MOST_FAMILIES:
        tables.append(_matrix(columns, found))
    return tables


def removed_warnings(columns: JudgmentColumns, found: Makers) -> list[str]:
    """Say for which families the exclusion of a judge's own family leaves nothing to compare."""
    warnings = []
    for family in found.of_judges:
        n_pairs, n_judged = _own_pairs(columns, found, family)
        if n_pairs and not n_judged:
            warnings.append(
                f"Judges of {found.names[family]} judged none of the {n_pairs} pairs with a "
                "message of their own family: their exclusion removed these pairs, and with them "
                "what could show a preference for their own."
            )
    return warnings


def preference(
    columns: JudgmentColumns, found: Makers, judging: int, author: int
) -> FamilyPreference | None:
    """Compare a family's judges with all others on pairs of an author family against the rest."""
    is_first, is_second = (
        found.of_system[one] == author for one in (columns.first, columns.second)
    )
    toward = np.sign(columns.strength) * (is_first.astype(np.int64) - is_second)
    rows = np.flatnonzero(is_first != is_second)
    is_own = found.of_evaluator[columns.evaluator[rows]] == judging
    own, others = (
        _by_item(columns, rows[chosen], toward[rows[chosen]]) for chosen in (is_own, ~is_own)
    )
    both = np.flatnonzero(np.isfinite(own) & np.isfinite(others))
    if not len(both):
        return None
    unit = np.zeros(columns.n_items, dtype=np.int64)
    unit[columns.item] = columns.unit
    gap = mean_of(own[both] - others[both], unit[both])
    return FamilyPreference(len(both), float(own[both].mean()), float(others[both].mean()), gap)


def _by_item(columns: JudgmentColumns, rows: Integers, toward: Integers) -> Floats:
    """Return the mean over the judgments of each pair, NaN where there is none."""
    n = np.bincount(columns.item[rows], minlength=columns.n_items)
    sums = np.bincount(columns.item[rows], weights=toward, minlength=columns.n_items)
    means: Floats = np.where(n > 0, sums / np.maximum(n, 1), np.nan)
    return means


def _own_pairs(columns: JudgmentColumns, found: Makers, family: int) -> tuple[int, int]:
    """Count the pairs with a message of the family, and those that its judges judged."""
    has_own: Booleans = (found.of_system[columns.first] == family) | (
        found.of_system[columns.second] == family
    )
    by_own = has_own & (found.of_evaluator[columns.evaluator] == family)
    return len(np.unique(columns.item[has_own])), len(np.unique(columns.item[by_own]))


def _own_table(columns: JudgmentColumns, found: Makers, level: float) -> Table:
    gaps, heads = list[ClusteredMean | None](), list[tuple[Cell, ...]]()
    for family in found.of_judges:
        one = preference(columns, found, family, family)
        means = (None, None) if one is None else (round(one.own, 4), round(one.others, 4))
        n = 0 if one is None else one.n_pairs
        heads.append((found.names[family], *_own_pairs(columns, found, family), n, *means))
        gaps.append(None if one is None else one.gap)
    parts = zip(heads, gaps, adjusted(gaps), strict=True)
    return Table(
        "own_family",
        "Judges and their own family",
        "Net preference for the messages of the judges' own family, wins less losses by judgment: "
        "by its judges, and by all other evaluators of the very same pairs. Above 0, the judges "
        "favour their own. Where judges are kept from their own family there is nothing to "
        "compare, and the row says so by its counts. "
        f"{family_of('the difference of each family')}",
        (
            Column("family", "Family of the judges", ColumnKind.TEXT),
            Column("pairs", "Pairs with its messages", ColumnKind.COUNT),
            Column("judged", "Judged by its judges", ColumnKind.COUNT),
            Column("shared", "And by others, against other families", ColumnKind.COUNT),
            Column("own", "By its judges", ColumnKind.SHARE),
            Column("others", "By all others", ColumnKind.SHARE),
            Column("value", "Difference", ColumnKind.SHARE),
            *ends(level, ColumnKind.SHARE),
            P_VALUE,
        ),
        tuple((*head, *interval_cells(gap, level), p) for head, gap, p in parts),
        Picture.WHISKERS,
    )


def _matrix(columns: JudgmentColumns, found: Makers) -> Table:
    rows = []
    for judging in found.of_judges:
        cells: list[Cell] = [found.names[judging]]
        for author in found.of_authors:
            one = preference(columns, found, judging, author)
            cells.append(None if one is None else round(one.own - one.others, 4))
        rows.append(tuple(cells))
    authors = (
        Column(f"author_{place}", found.names[author], ColumnKind.SHARE)
        for place, author in enumerate(found.of_authors)
    )
    return Table(
        "families",
        "Families of judges by families of authors",
        "How much more the judges of the row's family prefer messages of the column's than all "
        "other evaluators of the same pairs do. Empty cells were judged by nobody of the row.",
        (Column("judges", "Judges of", ColumnKind.TEXT), *authors),
        tuple(rows),
        Picture.HEAT,
    )
