"""What every analysis begins with: weighted judgments, their tables, their fit."""

from dataclasses import dataclass

import numpy as np

from ranking.analyses import Ground
from ranking.columns import JudgmentColumns
from ranking.findings import AnalysisRefusedError
from ranking.method import Method
from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import NotConvergedError, fit_bradley_terry
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.strength import shares
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
        If there are no judgments, or they do not determine the strengths.
    """
    columns = ground.columns
    if not columns.n_judgments:
        msg = "There are no judgments."
        raise AnalysisRefusedError(msg)
    pairs = weighted_pairs(columns, ground.method)
    tables = tabulate(pairs, n_units=len(columns.units), n_systems=len(columns.systems))
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


def judgment_weights(columns: JudgmentColumns, method: Method) -> Floats:
    """Return what each judgment counts: 1, unless the method declares masses of the pools."""
    by_judge = columns.is_judge[columns.evaluator].astype(np.int64)
    n = np.bincount(by_judge, minlength=2)
    if method.masses is None or not n.all():
        return np.ones(columns.n_judgments)
    masses = np.array(method.masses, dtype=np.float64)
    weights: Floats = (masses / masses.sum() * n.sum() / n)[by_judge]
    return weights


def decimal(value: float, digits: int = 4) -> float | None:
    """Return a number as it is stored: rounded, and None where it is not known."""
    return round(float(value), digits) if np.isfinite(value) else None
