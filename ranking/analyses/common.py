"""What analyses begin with: judgments weighted as on the board, their tables, their fit."""

from dataclasses import dataclass, replace

import numpy as np

from ranking.analyses import Ground
from ranking.analyses.outcomes import check_enough
from ranking.findings import AnalysisRefusedError
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.method import Method
from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import NotConvergedError, fit_bradley_terry
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.strength import shares
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WeightedPairs, WinTables, tabulate


@dataclass(frozen=True)
class Fitted:
    """The judgments weighted as the fit weighs them, their tables, and the log strengths."""

    pairs: WeightedPairs
    tables: WinTables
    log_strengths: Floats


def fitted(ground: Ground) -> Fitted:
    """Weigh and fit the judgments as the fit does.

    Raises
    ------
    AnalysisRefusedError
        If there are no judgments or fewer than two systems, or the strengths are not determined.
    """
    columns = ground.columns
    check_enough(columns)
    pairs = weighted_pairs(columns, ground.method)
    tables = tabulated(columns, ground.method)
    try:
        fit = fit_bradley_terry(tables.total())
    except (NotConnectedError, NotConvergedError) as error:
        msg = "The judgments do not place all systems on one scale."
        raise AnalysisRefusedError(msg) from error
    return Fitted(pairs, tables, fit.log_strengths)


def weighted_pairs(columns: JudgmentColumns, method: Method) -> WeightedPairs:
    """Return one row per judgment, weighted as the method has it."""
    split = shares(columns.strength, method.strength)
    weight = judgment_weights(columns, method)
    return WeightedPairs(
        columns.unit, columns.first, columns.second, weight * split.first, weight * split.second
    )


def tabulated(columns: JudgmentColumns, method: Method) -> WinTables:
    """Return the weighted wins per source dialogue, under the method's mode and masses."""
    pairs = weighted_pairs(columns, method)
    return tabulate(pairs, n_units=len(columns.units), n_systems=len(columns.systems))


def whole_wins(columns: JudgmentColumns, method: Method) -> Floats:
    """Return who beat whom how often, a tie as half a win each, shape (n_systems, n_systems).

    Each judgment counts once, whatever it weighs: these are counts.
    """
    return tabulated(columns, replace(with_whole_wins(method), masses=None)).total()


def with_whole_wins(method: Method) -> Method:
    """Return the method with every win whole, whatever its strength."""
    return replace(method, strength=StrengthMode.IGNORE)


def method_of_marks(columns: JudgmentColumns, method: Method) -> Method:
    """Return the method for marks on one dimension: whole wins where they have no size."""
    has_sizes = bool((np.abs(columns.strength) > 1).any())
    return method if has_sizes else with_whole_wins(method)


def judgment_weights(columns: JudgmentColumns, method: Method) -> Floats:
    """Return what each judgment counts: 1, unless the method declares masses of the pools."""
    by_judge = columns.is_judge[columns.evaluator].astype(np.int64)
    n = np.bincount(by_judge, minlength=2)
    if method.masses is None or not n.all():
        return np.ones(columns.n_judgments)
    masses = np.array(method.masses, dtype=np.float64)
    weights: Floats = (masses / masses.sum() * n.sum() / n)[by_judge]
    return weights
