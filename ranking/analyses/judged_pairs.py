"""Pairs of completions, each once, as people and LLM judges judged them."""

from dataclasses import dataclass

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.findings import AnalysisRefusedError
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.calibrated_judge import verdict_figures
from ranking.numerics.strength import STRONGEST, Shares, shares


@dataclass(frozen=True)
class JudgedPairs:
    """What was said of each pair; arrays of shape (n_items,).

    Attributes
    ----------
    unit, first, second : integer arrays
        As in `JudgmentColumns`.
    by_people, by_judges : float arrays
        Share (0 to 1) given to the first completion, by the strength mode of the fit; NaN where
        nobody of that kind judged.
    people_lean, judges_lean : integer arrays
        1 where more of them preferred the first, -1 the second, 0 where neither.
    """

    unit: Integers
    first: Integers
    second: Integers
    by_people: Floats
    by_judges: Floats
    people_lean: Integers
    judges_lean: Integers

    @property
    def by_both(self) -> Booleans:
        """Say which pairs both people and judges judged."""
        both: Booleans = ~np.isnan(self.by_people + self.by_judges)
        return both


def judged_pairs(inputs: AnalysisInputs) -> JudgedPairs:
    """Put the judgments of each pair together, those of people and of judges apart."""
    columns = inputs.columns
    _, row = np.unique(columns.item, return_index=True)
    by_judge = columns.is_judge[columns.evaluator]
    split = shares(columns.strength, inputs.method.strength)
    return JudgedPairs(
        columns.unit[row],
        columns.first[row],
        columns.second[row],
        _share(columns, split, ~by_judge),
        _share(columns, split, by_judge),
        _lean(columns, ~by_judge),
        _lean(columns, by_judge),
    )


def figures(inputs: AnalysisInputs) -> Floats:
    """Return what the calibrated judge learns from, shape (n_items, n_figures).

    The verdicts of each judge, the judges' own probabilities, how the two texts differ in style,
    and where people saw the first; each changes its sign when the pair is turned round, and is
    0 where it is not known. What is 0 throughout is left out.
    """
    parts = [
        verdict_figures(_verdicts(inputs.columns)),
        _probabilities(inputs),
        _style(inputs.columns),
        _position(inputs.columns),
    ]
    found = np.hstack(parts)
    kept: Floats = found[:, found.any(axis=0)]
    return kept


def _share(columns: JudgmentColumns, split: Shares, rows: Booleans) -> Floats:
    first, second = (_sums(columns, part, rows) for part in (split.first, split.second))
    return _ratios(first, first + second)


def _lean(columns: JudgmentColumns, rows: Booleans) -> Integers:
    ahead = _sums(columns, np.sign(columns.strength).astype(np.float64), rows)
    return np.sign(ahead).astype(np.int64)


def _sums(columns: JudgmentColumns, values: Floats, rows: Booleans) -> Floats:
    sums = np.bincount(columns.item[rows], values[rows], minlength=columns.n_items)
    return sums.astype(np.float64)


def _means(columns: JudgmentColumns, values: Floats, rows: Booleans) -> Floats:
    """Return the mean over some judgments of each pair, NaN where there are none."""
    n = np.bincount(columns.item[rows], minlength=columns.n_items).astype(np.float64)
    return _ratios(_sums(columns, values, rows), n)


def _ratios(parts: Floats, wholes: Floats) -> Floats:
    """Divide, NaN where there is nothing to divide by."""
    ratios = np.full(parts.shape, np.nan)
    np.divide(parts, wholes, out=ratios, where=wholes > 0.0)
    return ratios


def _verdicts(columns: JudgmentColumns) -> Floats:
    """Return each judge's mean signed strength, -1 to 1, shape (n_items, n_judges)."""
    strength = columns.strength / STRONGEST
    judges = np.flatnonzero(columns.is_judge)
    said = [_means(columns, strength, columns.evaluator == judge) for judge in judges]
    return np.column_stack(said)


def _probabilities(inputs: AnalysisInputs) -> Floats:
    """Return the mean of the judges' own probabilities, -1 to 1, shape (n_items, 1)."""
    columns = inputs.columns
    try:
        probability = inputs.sources.judgments().probability
    except AnalysisRefusedError:
        return np.zeros((columns.n_items, 1))
    is_known = np.isfinite(probability) & columns.is_judge[columns.evaluator]
    known = _means(columns, np.nan_to_num(2.0 * probability - 1.0), is_known)
    return np.nan_to_num(known)[:, None]


def _style(columns: JudgmentColumns) -> Floats:
    """Return (a - b) / (a + b) of each figure of style, shape (n_items, n_features)."""
    if columns.features is None:
        return np.zeros((columns.n_items, 0))
    one, other = columns.features[:, 0], columns.features[:, 1]
    return np.nan_to_num(_ratios(one - other, one + other))


def _position(columns: JudgmentColumns) -> Floats:
    """Return where people saw the first completion, -1 to 1, shape (n_items, 1)."""
    by_people = ~columns.is_judge[columns.evaluator]
    shown = _means(columns, columns.shown.astype(np.float64), by_people)
    return np.nan_to_num(shown)[:, None]
