"""System against system: what was judged, what the ratings expect, what can be told apart."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import special

from ranking.analyses import AnalysisInputs
from ranking.analyses.boards import AnalysisBoard, board_warnings, rated
from ranking.analyses.common import (
    decimal,
    family_of,
    points,
    tabulated,
    weighted_pairs,
    whole_wins,
)
from ranking.findings import Cell, Column, ColumnKind, Findings, Picture, Table
from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.few_units import robust_covariance
from ranking.numerics.intervals import Intervals
from ranking.numerics.multiplicity import benjamini_hochberg, holm
from ranking.numerics.pairwise import (
    difference_intervals,
    pairwise_p_values,
    quasi_variances,
    step_down_p_values,
    superiority,
)
from ranking.numerics.sandwich import two_way_covariance
from ranking.numerics.simultaneous import STILL

MOST_SYSTEMS = 60
"""More would be tables of thousands of rows that nobody reads."""
METHOD = (
    "Differences of the fit's ratings with intervals that hold for all pairs at once, from its "
    "resamples of source dialogues (largest studentised difference, Romano & Wolf 2005). "
    "p-values are of two-sided t tests by the same resamples, adjusted for the number of pairs: "
    "by steps down from the clearest pair, by Holm, and by Benjamini & Hochberg."
)
COLUMNS = (
    Column("first", "System", ColumnKind.SYSTEM),
    Column("second", "Against", ColumnKind.SYSTEM),
    Column("n", "Judgments", ColumnKind.COUNT),
    Column("win_rate", "Win rate", ColumnKind.SHARE),
    Column("expected", "Expected win rate, strength aside", ColumnKind.SHARE),
    Column("difference", "Elo difference", ColumnKind.ELO),
    Column("low", "from", ColumnKind.ELO),
    Column("high", "to", ColumnKind.ELO),
    Column("superiority", "Ahead in resamples", ColumnKind.SHARE),
    Column("p_step_down", "p, step-down", ColumnKind.P_VALUE),
    Column("p_holm", "p, Holm", ColumnKind.P_VALUE),
    Column("p_false_discovery", "p, Benjamini-Hochberg", ColumnKind.P_VALUE),
)
ERROR_COLUMNS = (
    Column("system", "System", ColumnKind.SYSTEM),
    Column("value", "Elo", ColumnKind.ELO),
    Column("low", "less one error", ColumnKind.ELO),
    Column("high", "and one error", ColumnKind.ELO),
    Column("error", "Error", ColumnKind.ELO),
)
EVALUATOR_COLUMNS = (
    Column("system", "System", ColumnKind.SYSTEM),
    Column("elo", "Elo", ColumnKind.ELO),
    Column("by_dialogue", "Error, same evaluators", ColumnKind.ELO),
    Column("by_both", "Error, other evaluators", ColumnKind.ELO),
)


@dataclass(frozen=True)
class _Matrices:
    """What is known of ordered pairs, shape (n_systems, n_systems) each; NaN is not known."""

    n: Floats
    win_rate: Floats
    expected: Floats
    ahead: Floats
    interval: Intervals


def analyse(inputs: AnalysisInputs) -> Findings:
    """Compare every pair of systems.

    Raises
    ------
    AnalysisRefusedError
        If the judgments do not determine ratings with intervals.
    """
    board = rated(inputs.columns, inputs.method)
    shown = board.best_first[:MOST_SYSTEMS]
    matrices = _matrices(board, whole_wins(inputs.columns, inputs.method), inputs.method.level)
    tables = (
        _pairs_table(board, shown, matrices),
        _heat(
            board,
            shown,
            matrices.ahead,
            ("superiority", "How often is a system ahead?"),
            "Each cell is the share of resamples of the dialogues in which the system of the row "
            "is rated above that of the column. It is not adjusted for the number of pairs.",
        ),
        _heat(
            board,
            shown,
            matrices.win_rate,
            ("win-rate", "How often did a system win?"),
            "Each cell is the share of judgments that the system of the row won against that of "
            "the column, a tie counting half. Empty cells are pairs that were never judged.",
        ),
        *_comparable(board, shown),
        *_by_evaluator(board, shown, inputs),
    )
    return Findings(METHOD, tables, _warnings(board, matrices))


def _matrices(board: AnalysisBoard, wins: Floats, level: float) -> _Matrices:
    n = wins + wins.T
    met = np.where(n > 0.0, n, np.nan)
    ahead = superiority(board.resampled)
    np.fill_diagonal(ahead, np.nan)
    n_units = board.units_of_systems
    interval = difference_intervals(board.elo, board.resampled, n_units=n_units, level=level)
    return _Matrices(n, wins / met, _expected(wins), ahead, interval)


def _expected(wins: Floats) -> Floats:
    """Return the win rates that ratings of whole wins expect, NaN if there are no such ratings.

    Under soft or multiplied scores a difference of ratings is not the log odds of winning.
    """
    try:
        theta = fit_bradley_terry(wins).log_strengths
    except NotConnectedError:
        return np.full(wins.shape, np.nan)
    expected: Floats = special.expit(theta[:, None] - theta[None, :])
    return expected


def _pairs_table(board: AnalysisBoard, shown: list[int], matrices: _Matrices) -> Table:
    pairs = np.triu_indices(len(board.systems), 1)
    alone, stepped = (
        test(board.elo, board.resampled, n_units=board.units_of_systems)
        for test in (pairwise_p_values, step_down_p_values)
    )
    held, shared = (
        _square(adjust(alone[pairs]), len(alone)) for adjust in (holm, benjamini_hochberg)
    )
    rows = (
        (
            board.systems[i],
            board.systems[j],
            int(matrices.n[i, j]),
            decimal(matrices.win_rate[i, j]),
            decimal(matrices.expected[i, j]),
            points(board.elo[i] - board.elo[j]),
            *_ends(matrices.interval, i, j),
            decimal(matrices.ahead[i, j]),
            *(float(f"{p[i, j]:.3g}") for p in (stepped, held, shared)),
        )
        for i, j in combinations(shown, 2)
    )
    return Table(
        "pairs",
        "All pairs of systems",
        "The system rated higher comes first. A pair is told apart when its interval leaves out "
        "0; all intervals hold together. There is none where all resamples agree. The expected win "
        "rate counts who won alone; the ratings also weigh how clearly. So a system that wins less "
        f"often, but clearly, can be ahead. {family_of('all pairs of systems')}",
        COLUMNS,
        tuple(rows),
    )


def _comparable(board: AnalysisBoard, shown: list[int]) -> tuple[Table, ...]:
    """Return errors that can be added for any pair, unless there are no three that vary."""
    try:
        quasi = quasi_variances(np.cov(board.resampled.T))
    except ValueError:
        return ()
    errors = np.sqrt(quasi.variances)
    rows = (
        (
            board.systems[i],
            points(board.elo[i]),
            points(board.elo[i] - errors[i]),
            points(board.elo[i] + errors[i]),
            points(errors[i]),
        )
        for i in shown
    )
    caption = (
        "One rating has no error without the others. These errors (quasi-standard errors, Firth & "
        "de Menezes 2004) give that of any difference: square both, add, take the root. For no "
        f"pair that errs by more than {100.0 * quasi.worst_error:.0f} %. Lines reach one error."
    )
    return (
        Table(
            "errors",
            "Errors to compare by",
            caption,
            ERROR_COLUMNS,
            tuple(rows),
            Picture.WHISKERS,
        ),
    )


def _by_evaluator(
    board: AnalysisBoard, shown: list[int], inputs: AnalysisInputs
) -> tuple[Table, ...]:
    """Return errors that know of shared evaluators too, unless there is only one."""
    if len(inputs.columns.evaluators) <= 1:
        return ()
    pairs = weighted_pairs(inputs.columns, inputs.method)
    theta = board.elo / ELO_PER_LOG_UNIT
    tables = tabulated(inputs.columns, inputs.method)
    one_way = ELO_PER_LOG_UNIT * robust_covariance(tables, theta).standard_errors
    both = two_way_covariance(pairs, inputs.columns.evaluator, theta)
    # Less than for the same evaluators is an accident of estimating it.
    two_way = np.maximum(ELO_PER_LOG_UNIT * both.standard_errors, one_way)
    rows = (
        (board.systems[i], points(board.elo[i]), points(one_way[i]), points(two_way[i]))
        for i in shown
    )
    table = Table(
        "evaluators",
        "If other evaluators had judged",
        "Standard errors for other dialogues with the same evaluators, and for other dialogues "
        "with other evaluators (Cameron, Gelbach & Miller 2011), which is no less. There are "
        f"{both.n_clusters} of the scarcer; with fewer than twenty the second is a rough guide.",
        EVALUATOR_COLUMNS,
        tuple(rows),
    )
    return (table,)


def _heat(
    board: AnalysisBoard, shown: list[int], shares: Floats, names: tuple[str, str], caption: str
) -> Table:
    columns = (Column(board.systems[j], board.systems[j], ColumnKind.SHARE) for j in shown)
    rows = tuple(
        (board.systems[i], *(None if i == j else decimal(shares[i, j]) for j in shown))
        for i in shown
    )
    first = Column("system", "System", ColumnKind.SYSTEM)
    return Table(*names, caption, (first, *columns), rows, Picture.HEAT)


def _warnings(board: AnalysisBoard, matrices: _Matrices) -> tuple[str, ...]:
    warnings = list(board_warnings(board))
    if len(board.systems) > MOST_SYSTEMS:
        warnings.append(
            f"Shown are the {MOST_SYSTEMS} best of {len(board.systems)} systems; p-values and "
            "intervals are adjusted for all pairs."
        )
    if np.isnan(matrices.expected).any():
        warnings.append(
            "There are no expected win rates: whole wins alone do not connect all systems."
        )
    return tuple(warnings)


def _square(values: Floats, n: int) -> Floats:
    """Return a symmetric matrix of the values of its upper triangle."""
    square = np.ones((n, n))
    upper = np.triu_indices(n, 1)
    square[upper] = values
    return np.minimum(square, square.T)


def _ends(interval: Intervals, i: int, j: int) -> tuple[Cell, Cell]:
    """Return the ends of an interval, unless resamples leave it without width."""
    low, high = float(interval.low[i, j]), float(interval.high[i, j])
    return (points(low), points(high)) if high - low > STILL else (None, None)
