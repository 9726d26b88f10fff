"""Whether the longer message wins, as it is and with systems and position held equal."""

import numpy as np

from ranking.analyses.bias.cells import P_VALUE, Tendency, adjusted, adjusted_p, tendency, with_all
from ranking.analyses.common import ends, family_of, interval_cells
from ranking.findings import Cell, Column, ColumnKind, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.clustered_means import ClusteredMean, TooFewDialoguesError
from ranking.numerics.partial import NothingLeftError, partial_slope

LENGTH = "length"
TWICE = 1 / 3  # (a - b) / (a + b) for a = 2 b
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
KIND = Column("kind", "Evaluators", ColumnKind.TEXT)


def length_tables(columns: JudgmentColumns, level: float, rng: np.random.Generator) -> list[Table]:
    """Return how often the longer message won, and by how much length sways; none if unknown."""
    lengths = _lengths(columns)
    if lengths is None:
        return []
    known = np.asarray(np.isfinite(lengths).all(axis=1) & (lengths.sum(axis=1) > 0.0))
    if not known.any():
        return []
    tables = [_raw(columns, lengths, level), _held(columns, lengths, level, rng)]
    return [table for table in tables if table is not None and table.rows]


def _lengths(columns: JudgmentColumns) -> Floats | None:
    """Return the characters of both messages of each judgment, shape (n_judgments, 2)."""
    if columns.features is None or LENGTH not in columns.feature_names:
        return None
    lengths: Floats = columns.features[columns.item, :, columns.feature_names.index(LENGTH)]
    return lengths


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
                found.append(tendency(toward[rows] > 0, columns.unit[rows], level))
    p_values = adjusted_p([one.p_value for one in found])
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
            Column("value", "The longer won", ColumnKind.SHARE),
            *ends(level, ColumnKind.SHARE),
            P_VALUE,
        ),
        tuple((*head, *one.cells(), p) for head, one, p in parts),
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
            Column("value", "Held equal", ColumnKind.SHARE),
            *ends(level, ColumnKind.SHARE),
            P_VALUE,
        ),
        rows_of,
    )


def _slopes(
    columns: JudgmentColumns, lengths: Floats, rows: Integers
) -> tuple[ClusteredMean, ClusteredMean] | None:
    """Return the slope of winning on relative length, as it is and with controls."""
    first, second = lengths[rows].T
    total = first + second
    longer = (first - second) / np.where(total > 0.0, total, 1.0)
    won = (1.0 + np.sign(columns.strength[rows])) / 2.0
    met = np.zeros((len(rows), len(columns.systems) + 1))
    place = np.arange(len(rows))
    met[place, columns.first[rows]] = 1.0
    met[place, columns.second[rows]] = -1.0
    met[:, -1] = columns.shown[rows]
    unit = columns.unit[rows]
    try:
        raw = partial_slope(won, longer, np.empty((len(rows), 0)), unit)
        return raw, partial_slope(won, longer, met, unit)
    except (NothingLeftError, TooFewDialoguesError):
        return None
