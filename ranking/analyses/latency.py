"""Ratings beside speed and general capability."""

from collections.abc import Mapping

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.boards import FEWEST, AnalysisBoard, board_warnings, rated
from ranking.analyses.common import P_VALUE, ends, family_of
from ranking.findings import (
    AnalysisRefusedError,
    Cell,
    Column,
    ColumnKind,
    Findings,
    Picture,
    Table,
)
from ranking.judgments.sources import SystemFacts
from ranking.numerics.arrays import Floats
from ranking.numerics.correlation import Correlation, TooFewError, pearson, spearman
from ranking.numerics.few_units import expanded_intervals
from ranking.numerics.intervals import percentile_intervals
from ranking.numerics.multiplicity import benjamini_hochberg

DESIGN_LINE_MS = 500
STILL = 1e-12  # squared points: what rounding leaves of resamples that are all ties
METHOD = (
    "Pearson's correlation of Elo with the logarithm of the time to the first token and with the "
    "index, intervals by Fisher's z; Spearman's of the ranks, intervals by Bonett and Wright "
    "(2000). The systems are taken as a sample of systems; the last two columns say how far the "
    "coefficient moves when the dialogues are resampled and the systems stay."
)
SYSTEM = Column("system", "System", ColumnKind.SYSTEM)
TIME = Column("x", "Time to the first token, ms", is_logarithmic=True, mark=DESIGN_LINE_MS)
ELO = Column("y", "Elo", ColumnKind.ELO)
CORRELATIONS = (
    Column("figure", "Elo against", ColumnKind.TEXT),
    Column("coefficient_of", "Coefficient", ColumnKind.TEXT),
    Column("systems", "Systems", ColumnKind.COUNT),
    Column("coefficient", "Value"),
)
RESAMPLED = (
    P_VALUE,
    Column("resampled_low", "Dialogues resampled, from"),
    Column("resampled_high", "to"),
)
COEFFICIENTS = {"Pearson": pearson, "Spearman": spearman}


def analyse(inputs: AnalysisInputs) -> Findings:
    """Hold the ratings against time to the first token and an index of general capability.

    Raises
    ------
    AnalysisRefusedError
        If neither figure is known of any system, or the ratings are not determined.
    """
    board, facts = rated(inputs.columns, inputs.method), inputs.sources.systems()
    times = np.array([_ttft(facts, slug) for slug in board.systems])
    index = np.array([_index(facts, slug) for slug in board.systems])
    if not np.isfinite([times, index]).any():
        msg = "Neither a time to the first token nor an index is known of any of these systems."
        raise AnalysisRefusedError(msg)
    figures = {"time to the first token, logarithm": np.log(times), "index": index}
    level = inputs.method.level
    tables = [_speed(board, times, facts, level), _capability(board, index, level)]
    tables += [_correlations(board, figures, level)]
    shown = tuple(table for table in tables if table.rows)
    return Findings(METHOD, shown, board_warnings(board))


def _ttft(facts: Mapping[str, SystemFacts], slug: str) -> float:
    """Return the time measured here, or else the published one, in milliseconds."""
    measured, published = facts[slug].measured_ttft_ms, facts[slug].published_ttft_ms
    found = published if measured is None else measured
    return found or float("nan")


def _index(facts: Mapping[str, SystemFacts], slug: str) -> float:
    index = facts[slug].intelligence_index
    return float("nan") if index is None else index


def _speed(
    board: AnalysisBoard, times: Floats, facts: Mapping[str, SystemFacts], level: float
) -> Table:
    rows = []
    for place in board.best_first:
        if np.isfinite(times[place]):
            slug = board.systems[place]
            source = "published" if facts[slug].measured_ttft_ms is None else "measured here"
            is_fast = bool(times[place] <= DESIGN_LINE_MS)
            rows.append(
                (slug, round(float(times[place])), *_elo(board, place, level), source, is_fast)
            )
    return Table(
        key="speed",
        title="Elo against the time to the first token",
        caption=(
            f"Median times in milliseconds, on a logarithmic axis. Below {DESIGN_LINE_MS} ms an "
            "answer feels immediate in a spoken conversation."
        ),
        columns=(
            SYSTEM,
            TIME,
            ELO,
            *ends(level, ColumnKind.ELO),
            Column("source", "Time is", ColumnKind.TEXT),
            Column("is_fast", f"Below {DESIGN_LINE_MS} ms", ColumnKind.TEXT),
        ),
        rows=tuple(rows),
        picture=Picture.POINTS,
    )


def _capability(board: AnalysisBoard, index: Floats, level: float) -> Table:
    known = [place for place in board.best_first if np.isfinite(index[place])]
    return Table(
        key="capability",
        title="Elo against an index of general capability",
        caption=(
            "The index comes from outside, with its source in the catalogue of systems. A system "
            "above the others of its index is better at support than its capability lets expect."
        ),
        columns=(
            SYSTEM,
            Column("x", "Index", ColumnKind.NUMBER),
            ELO,
            *ends(level, ColumnKind.ELO),
        ),
        rows=tuple((board.systems[at], float(index[at]), *_elo(board, at, level)) for at in known),
        picture=Picture.POINTS,
    )


def _elo(board: AnalysisBoard, place: int, level: float) -> tuple[float, float, float]:
    one, resampled = board.elo[place, None], board.resampled[:, place, None]
    n_units = board.units_of_systems[place, None]
    reach = expanded_intervals(one, resampled, n_units=n_units, level=level)
    elo, low, high = (round(float(end[0]), 1) for end in (one, reach.low, reach.high))
    return elo, low, high


def _correlations(board: AnalysisBoard, figures: Mapping[str, Floats], level: float) -> Table:
    """Correlate Elo with each figure that enough systems have; NaN where it is not known."""
    names, found, ranges = [], list[Correlation](), []
    for label, values in figures.items():
        for name, correlate in COEFFICIENTS.items():
            try:
                found.append(correlate(values, board.elo, level=level))
            except TooFewError:
                continue
            names.append((label, name))
            ranges.append(_resampled(board, values, name, level))
    adjusted = benjamini_hochberg(np.array([one.p_value for one in found]))
    rows = zip(names, found, adjusted.tolist(), ranges, strict=True)
    return Table(
        key="correlations",
        title="How they go together",
        caption=(
            "From -1 to 1; 0 means that Elo tells nothing of the figure. With as few systems as "
            "this, intervals are wide. "
            f"{family_of('both coefficients of each figure')}"
        ),
        columns=(*CORRELATIONS, *ends(level), *RESAMPLED),
        rows=tuple((*name, *_cells(one), p, *reach) for name, one, p, reach in rows),
    )


def _cells(one: Correlation) -> tuple[Cell, ...]:
    return one.n, round(one.coefficient, 4), round(one.low, 4), round(one.high, 4)


def _resampled(board: AnalysisBoard, values: Floats, name: str, level: float) -> tuple[Cell, Cell]:
    """Return between what the coefficient lies over the resamples that tell systems apart."""
    known = np.isfinite(values)
    x, y = values[known], board.resampled[:, known]
    if name == "Spearman":
        x, y = _ranks(x[None])[0], _ranks(y)
    x, y = x - x.mean(), y - y.mean(axis=1, keepdims=True)
    spread = (y * y).sum(axis=1)
    apart = spread > STILL
    if apart.sum() < FEWEST:
        return None, None
    r = y[apart] @ x / np.sqrt((x @ x) * spread[apart])
    reach = percentile_intervals(r[:, None], level=level)
    return round(float(reach.low[0]), 4), round(float(reach.high[0]), 4)


def _ranks(values: Floats) -> Floats:
    """Return the mid-ranks in each row."""
    below = (values[:, :, None] > values[:, None, :]).sum(axis=2)
    alike = (values[:, :, None] == values[:, None, :]).sum(axis=2)
    ranks: Floats = below + (alike + 1) / 2
    return ranks
