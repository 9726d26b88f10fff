"""What sways judgments besides the messages: position, length, own family, drift, fatigue."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.bias_order import (
    KIND,
    Tendency,
    adjusted,
    adjusted_p,
    by_person_too,
    drift_table,
    fatigue_table,
    position_tables,
    severity_table,
    tendency,
    with_all,
)
from ranking.analyses.common import (
    TWICE,
    decimal,
    family_of,
    few_dialogues,
    interval_cells,
    lengths_of,
    mean_of,
    means_by,
    relative,
    units_of_items,
    with_test,
)
from ranking.findings import (
    AnalysisRefusedError,
    Cell,
    Column,
    ColumnKind,
    Findings,
    Picture,
    Table,
)
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.sources import SystemFacts
from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.clustered_means import (
    ClusteredMean,
    partial_slope,
    residuals,
)

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


FamilyPreference = tuple[int, float, float, ClusteredMean | None]
"""Pairs, what a family's judges and all others said of them, and how far they are apart.

Net preferences for an author family are means over the same pairs, from -1 to 1, NaN without any;
the last is None where there is no error.
"""


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
) -> FamilyPreference:
    """Compare a family's judges with all others on pairs of an author family against the rest."""
    is_first, is_second = (
        found.of_system[one] == author for one in (columns.first, columns.second)
    )
    toward = np.sign(columns.strength) * (is_first.astype(np.int64) - is_second)
    rows = np.flatnonzero(is_first != is_second)
    is_own = found.of_evaluator[columns.evaluator[rows]] == judging
    own, others = (
        means_by(columns.item[rows[chosen]], toward[rows[chosen]], columns.n_items)
        for chosen in (is_own, ~is_own)
    )
    both = np.flatnonzero(np.isfinite(own) & np.isfinite(others))
    if not len(both):
        return 0, np.nan, np.nan, None
    gap = mean_of(own[both] - others[both], units_of_items(columns)[both])
    return len(both), float(own[both].mean()), float(others[both].mean()), gap


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
        n, own, others, gap = preference(columns, found, family, family)
        head = (found.names[family], *_own_pairs(columns, found, family), n)
        heads.append((*head, decimal(own), decimal(others)))
        gaps.append(gap)
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
            *with_test("Difference", level, ColumnKind.SHARE),
        ),
        tuple((*head, *interval_cells(gap, level), p) for head, gap, p in parts),
        Picture.WHISKERS,
    )


def _matrix(columns: JudgmentColumns, found: Makers) -> Table:
    rows = []
    for judging in found.of_judges:
        cells: list[Cell] = [found.names[judging]]
        for author in found.of_authors:
            _, own, others, _ = preference(columns, found, judging, author)
            cells.append(decimal(own - others))
        rows.append(tuple(cells))
    authors = (
        Column(f"author_{place}", found.names[author], ColumnKind.SHARE)
        for place, author in enumerate(found.of_authors)
    )
    return Table(
        "families",
        "Families of judges by families of authors",
        "How much more the judges of the row's family prefer messages of the column's than all "
        "other evaluators of the same pairs do. Empty cells have no pairs that both judged.",
        (Column("judges", "Judges of", ColumnKind.TEXT), *authors),
        tuple(rows),
        Picture.HEAT,
    )


MOST = 200_000  # judgments that slopes are taken from
MOST_SYSTEMS = 100  # that slopes hold equal
SIZES = (
    ("any", 1.0, np.inf),
    ("up to 10 %", 1.0, 1.1),
    ("10 to 25 %", 1.1, 1.25),
    ("25 to 50 %", 1.25, 1.5),
    ("50 to 100 %", 1.5, 2.0),
    ("more than twice as long", 2.0, np.inf),
)


def length_tables(columns: JudgmentColumns, level: float, rng: np.random.Generator) -> list[Table]:
    """Return how often the longer message won, and by how much length sways; none if unknown."""
    lengths = lengths_of(columns)
    if lengths is None:
        return []
    known = np.asarray(np.isfinite(lengths).all(axis=1) & (lengths.sum(axis=1) > 0.0))
    if not known.any():
        return []
    tables = [_raw(columns, lengths, level), _held(columns, lengths, level, rng)]
    return [table for table in tables if table is not None and table.rows]


def _raw(columns: JudgmentColumns, lengths: Floats, level: float) -> Table:
    longest, shortest = lengths.max(axis=1), lengths.min(axis=1)
    toward = np.sign(columns.strength) * np.sign(lengths[:, 0] - lengths[:, 1])
    told = np.isfinite(toward) & (toward != 0.0)
    heads, found = list[tuple[Cell, ...]](), list[Tendency]()
    for name, chosen in with_all(columns):
        for size, least, most in SIZES:
            wide = (longest > least * shortest) & (longest <= most * shortest)
            rows = np.flatnonzero(chosen & told & wide)
            if len(rows):
                heads.append((name, size, len(rows)))
                found.append(tendency(toward[rows] > 0, columns, rows, level))
    p_values = adjusted_p([p for _, p in found])
    parts = zip(heads, found, p_values, strict=True)
    return Table(
        "length",
        "How often the longer message won",
        "Of judgments with a winner, by how much longer the one message was. One half is no "
        "preference. A longer message may also be the better one: see the next table. "
        f"{family_of('each row against one half')}",
        (
            KIND,
            Column("longer", "Longer by", ColumnKind.TEXT),
            Column("decided", "Decided judgments", ColumnKind.COUNT),
            *with_test("The longer won", level, ColumnKind.SHARE),
        ),
        tuple((*head, *cells, p) for head, (cells, _), p in parts),
    )


def _held(
    columns: JudgmentColumns, lengths: Floats, level: float, rng: np.random.Generator
) -> Table | None:
    """Return what length sways where systems and position are the same."""
    if len(columns.systems) > MOST_SYSTEMS:
        return None
    heads, raw, held = list[tuple[Cell, ...]](), [], []
    for name, chosen in with_all(columns):
        rows = np.flatnonzero(chosen & np.isfinite(lengths).all(axis=1))
        if len(rows) > MOST:
            rows = np.sort(rng.choice(rows, MOST, replace=False))
        slopes = _slopes(columns, lengths, rows)
        if slopes is not None:
            heads.append((name, len(rows)))
            raw.append(interval_cells(slopes[0], level, times=TWICE)[0])
            held.append(slopes[1])
    parts = zip(heads, raw, held, adjusted(held), strict=True)
    rows_of = tuple((*h, r, *interval_cells(one, level, times=TWICE), p) for h, r, one, p in parts)
    return Table(
        "verbosity",
        "What twice the length sways",
        "By how much the share of judgments that a message wins is higher if it is twice as long: "
        "as it is, and held equal which systems met and which was shown first. Ties are half. At "
        f"most {MOST:,} judgments each. The analysis of style has the same on the scale of the "
        f"ratings. {family_of('what is held equal, in each row')}",
        (
            KIND,
            Column("judgments", "Judgments", ColumnKind.COUNT),
            Column("raw", "As it is", ColumnKind.SHARE),
            *with_test("Held equal", level, ColumnKind.SHARE),
        ),
        rows_of,
    )


def _slopes(
    columns: JudgmentColumns, lengths: Floats, rows: Integers
) -> tuple[ClusteredMean, ClusteredMean] | None:
    """Return the slope of winning on relative length, as it is and with controls."""
    longer = relative(*lengths[rows].T)
    won = (1.0 + np.sign(columns.strength[rows])) / 2.0
    met = np.zeros((len(rows), len(columns.systems) + 1))
    place = np.arange(len(rows))
    met[place, columns.first[rows]] = 1.0
    met[place, columns.second[rows]] = -1.0
    met[:, -1] = columns.shown[rows]
    none = met[:, :0]
    raw, held = (
        by_person_too(partial(partial_slope, y, x, none), columns, rows)
        for y, x in ((won, longer), residuals(np.column_stack([won, longer]), met).T)
    )
    return (raw, held) if raw and held else None


METHOD = (
    "Shares (Wilson 1927), differences and slopes by source dialogue (Liang and Zeger 1986), of "
    "people by person as well (Cameron, Gelbach and Miller 2011) but for severity; sign tests for "
    "single evaluators; slopes of length hold systems and position equal, slopes over time compare "
    "people with themselves (Frisch and Waugh 1933). p-values are adjusted in each table "
    "(Benjamini and Hochberg 1995)."
)


def analyse(inputs: AnalysisInputs) -> Findings:
    """Audit the judgments for bias; what the study does not tell of is left out.

    Raises
    ------
    AnalysisRefusedError
        If there are no judgments, or nothing is known that could sway them.
    """
    columns, level = inputs.columns, inputs.method.level
    if not columns.n_judgments:
        msg = "There are no judgments yet."
        raise AnalysisRefusedError(msg)
    warnings = list[str]()
    tables = position_tables(columns, level)
    if not tables:
        warnings.append("It is not known on which side completions were shown.")
    by_length = length_tables(columns, level, np.random.default_rng(inputs.method.seed))
    if not by_length:
        warnings.append("The length of the messages is not known, or always the same.")
    tables += [*by_length, *_of_families(inputs, warnings), *_of_places(inputs, warnings)]
    if not tables:
        msg = "Nothing is known that could have swayed these judgments."
        raise AnalysisRefusedError(msg)
    few = few_dialogues(len(columns.units))
    return Findings(METHOD, tuple(tables), (*warnings, *few))


def _of_families(inputs: AnalysisInputs, warnings: list[str]) -> list[Table]:
    """Return the tables of families, or say why there are none."""
    columns = inputs.columns
    if not columns.is_judge.any():
        return []
    try:
        found = makers(columns, inputs.sources.systems(), inputs.sources.judge_families())
    except AnalysisRefusedError as refusal:
        warnings.append(str(refusal))
        return []
    warnings += removed_warnings(columns, found)
    return family_tables(columns, found, inputs.method.level)


def _of_places(inputs: AnalysisInputs, warnings: list[str]) -> list[Table]:
    """Return severity, drift and fatigue, as far as there are any."""
    columns, level = inputs.columns, inputs.method.level
    tables = [severity_table(columns, level)]
    try:
        facts = inputs.sources.judgments()
    except AnalysisRefusedError as refusal:
        warnings.append(str(refusal))
    else:
        tables += [drift_table(columns, facts, level), fatigue_table(columns, facts, level)]
    return [table for table in tables if table is not None]
