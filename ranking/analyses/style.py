"""Length, form and position held equal: how texts differ, and the board with and without."""

import math
from dataclasses import dataclass

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.common import (
    LENGTH,
    TWICE,
    check_enough,
    decimal,
    few_dialogues,
    judgment_weights,
    relative,
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
from ranking.numerics.arrays import Booleans, Floats
from ranking.numerics.bradley_terry import NotConvergedError
from ranking.numerics.clustered_means import TooFewDialoguesError
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.elo import ELO_PER_LOG_UNIT, ranks_of, to_elo
from ranking.numerics.models.covariates import (
    CollinearError,
    CovariateFit,
    CoveredPairs,
    covariate_errors,
    fit_with_covariates,
)
from ranking.numerics.models.maximum import NoMaximumError
from ranking.numerics.sandwich import ClusteredCovariance
from ranking.numerics.simultaneous import STILL
from ranking.numerics.strength import shares
from ranking.numerics.strength_mode import StrengthMode

POSITION = "position"
LABELS = {
    LENGTH: "Length in characters, twice as long",
    "sentences": "Sentences, twice as many",
    "question_marks": "Question marks, twice as many",
    "list_items": "List items, twice as many",
    POSITION: "Shown in the first position",
}


@dataclass(frozen=True)
class Covered:
    """The judgments whose figures are all known, and the figures' differences.

    ``names`` are those of the columns of ``differences``, the position last if it is there.
    """

    columns: JudgmentColumns
    weights: Floats
    names: tuple[str, ...]
    differences: Floats


def cover(inputs: AnalysisInputs) -> tuple[Covered, list[str]]:
    """Keep the judgments whose figures are known, and the figures that differ at all."""
    columns, warnings = inputs.columns, []
    by_item = _differences(columns)
    known = (
        np.asarray(np.isfinite(by_item).all(axis=1))[columns.item]
        if by_item.size
        else _all(columns)
    )
    if not known.any():
        by_item, known = np.empty((columns.n_items, 0)), _all(columns)
    kept = columns.taken(np.flatnonzero(known))
    n_left_out = columns.n_judgments - kept.n_judgments
    if n_left_out:
        warnings.append(
            f"{n_left_out} of {columns.n_judgments} judgments are left out of both boards: the "
            "figures of their completions are not known."
        )
    names = (*columns.feature_names[: by_item.shape[1]], POSITION)
    values = np.column_stack([by_item[columns.item[known]], kept.shown])
    tells = (values != 0).any(axis=0)
    warnings += [
        f"{LABELS.get(name, name)}: the same on both sides throughout, so not in the model."
        for name, told in zip(names, tells, strict=True)
        if not told and name != POSITION
    ]
    told_names = tuple(name for name, told in zip(names, tells, strict=True) if told)
    # What a judgment weighs on the board does not depend on whether its figures are known.
    weights = judgment_weights(columns, inputs.method)[known]
    return Covered(kept, weights, told_names, values[:, tells]), warnings


def _all(columns: JudgmentColumns) -> Booleans:
    return np.ones(columns.n_judgments, dtype=np.bool_)


def _differences(columns: JudgmentColumns) -> Floats:
    """Return how far the two messages differ in each figure, shape (n_items, n_features)."""
    if columns.features is None:
        return np.empty((columns.n_items, 0))
    return relative(columns.features[:, 0], columns.features[:, 1])


METHOD = (
    "Bradley-Terry with covariates, maximum likelihood: (a - b) / (a + b) of each figure of two "
    "completions, and 1 or -1 for who was shown first; errors clustered by source dialogue, with "
    "t quantiles. After Davidson & Beaver (1977), Springall (1973) and Liang & Zeger (1986)."
)
MEDIATORS = (
    "Style is held equal here, not made unbiased: length and form may be part of how a system "
    "helps, and then holding them equal takes away some of what was to be measured."
)
UNSETTLED = (NotConnectedError, NoMaximumError, CollinearError, NotConvergedError)


@dataclass(frozen=True)
class StyleBoard:
    """A fit with its clustered errors; None where there are too few dialogues for any."""

    fit: CovariateFit
    errors: ClusteredCovariance | None

    def reach(self, parameter: int, level: float) -> float:
        """Return how far the interval of a parameter reaches to each side, natural log.

        NaN where there are too few dialogues, or all are alike.
        """
        reach = 0.0 if self.errors is None else float(self.errors.margins(level=level)[parameter])
        return reach if reach > STILL else math.nan


def analyse(inputs: AnalysisInputs) -> Findings:
    """Rate the systems with and without style and position held equal.

    Raises
    ------
    AnalysisRefusedError
        If nothing is known of style or position, or the judgments of which it is known do not
        determine ratings and coefficients.
    """
    check_enough(inputs.columns)
    covered, warnings = cover(inputs)
    if not covered.names:
        msg = "Nothing is known of the style of the completions, or of the side they were on."
        raise AnalysisRefusedError(msg)
    mode = inputs.method.strength
    try:
        plain, held = _fit(covered, (), mode), _fit(covered, covered.names, mode)
    except UNSETTLED as refusal:
        msg = f"The judgments do not determine ratings with style held equal: {refusal}."
        raise AnalysisRefusedError(msg) from refusal
    level = inputs.method.level
    tables = (
        _boards(covered.columns, plain, held, level),
        _coefficients(covered, held, mode, level),
    )
    warnings += _cautions(covered)
    return Findings(METHOD, tables, (MEDIATORS, *warnings))


def _fit(covered: Covered, names: tuple[str, ...], mode: StrengthMode) -> StyleBoard:
    columns, weights = covered.columns, covered.weights
    split = shares(columns.strength, mode)
    chosen = [covered.names.index(name) for name in names]
    pairs = CoveredPairs(
        columns.first,
        columns.second,
        weights * split.first,
        weights * split.second,
        covered.differences[:, chosen],
    )
    fit = fit_with_covariates(pairs, n_systems=len(columns.systems))
    try:
        return StyleBoard(fit, covariate_errors(fit, pairs, columns.unit))
    except TooFewDialoguesError:
        return StyleBoard(fit, None)


def _boards(columns: JudgmentColumns, plain: StyleBoard, held: StyleBoard, level: float) -> Table:
    rated = [to_elo(board.fit.log_strengths) for board in (held, plain)]
    ranked = [ranks_of(elo).tolist() for elo in rated]
    rows: list[tuple[Cell, ...]] = []
    for index, slug in enumerate(columns.systems):
        row: list[Cell] = [slug]
        for board, elo, ranks in zip((held, plain), rated, ranked, strict=True):
            row += [*_interval(elo[index], board.reach(index, level)), ranks[index]]
        rows.append((*row, decimal(rated[0][index] - rated[1][index], 2)))
    return Table(
        "boards",
        "Boards with and without style held equal",
        "Both boards rest on the same judgments and have mean 1500. Intervals hold for one "
        "system at a time. " + MEDIATORS,
        (
            Column("system", "System", ColumnKind.SYSTEM),
            Column("value", "Elo, style held equal", ColumnKind.ELO),
            Column("low", "Low", ColumnKind.ELO),
            Column("high", "High", ColumnKind.ELO),
            Column("rank", "Rank, style held equal", ColumnKind.COUNT),
            Column("plain", "Elo as judged", ColumnKind.ELO),
            Column("plain_low", "Low, as judged", ColumnKind.ELO),
            Column("plain_high", "High, as judged", ColumnKind.ELO),
            Column("plain_rank", "Rank as judged", ColumnKind.COUNT),
            Column("change", "Change", ColumnKind.ELO),
        ),
        tuple(sorted(rows, key=lambda row: (row[4], row[0]))),
        Picture.WHISKERS,
    )


def _interval(value: float, reach: float) -> tuple[Cell, Cell, Cell]:
    """Return a rating in Elo points with the ends of its interval, reach being natural log."""
    points = reach * ELO_PER_LOG_UNIT
    return decimal(value, 2), decimal(value - points, 2), decimal(value + points, 2)


def _coefficients(covered: Covered, held: StyleBoard, mode: StrengthMode, level: float) -> Table:
    counted = _attempt(covered, covered.names, StrengthMode.IGNORE)
    rows = [
        _coefficient_row(LABELS.get(name, name), name, index, (held, counted), level)
        for index, name in enumerate(covered.names)
    ]
    if POSITION in covered.names and len(covered.names) > 1:
        alone = [_attempt(covered, (POSITION,), one) for one in (mode, StrengthMode.IGNORE)]
        label = f"{LABELS[POSITION]}, style left as it is"
        rows.append(_coefficient_row(label, POSITION, 0, (alone[0], alone[1]), level))
    return Table(
        "coefficients",
        "What style and position are worth",
        "Of two completions that are otherwise equal, the odds that the one named is preferred, "
        "from wins alone with ties half; and the same in points of the board's own scale. "
        "Odds of 1 and 0 points: no effect. Intervals hold for other dialogues judged by these "
        "evaluators: where each has a habit of its own, read the bias audits.",
        (
            Column("covariate", "Held equal", ColumnKind.TEXT),
            Column("odds", "Odds", ColumnKind.NUMBER),
            Column("odds_low", "Odds, low", ColumnKind.NUMBER),
            Column("odds_high", "Odds, high", ColumnKind.NUMBER),
            Column("value", "Points", ColumnKind.ELO),
            Column("low", "Points, low", ColumnKind.ELO),
            Column("high", "Points, high", ColumnKind.ELO),
        ),
        tuple(rows),
        Picture.WHISKERS,
    )


def _attempt(covered: Covered, names: tuple[str, ...], mode: StrengthMode) -> StyleBoard | None:
    """Return a fit, or None where hard wins or fewer covariates leave no finite one."""
    try:
        return _fit(covered, names, mode)
    except UNSETTLED:
        return None


def _coefficient_row(
    label: str,
    name: str,
    index: int,
    boards: tuple[StyleBoard | None, StyleBoard | None],
    level: float,
) -> tuple[Cell, ...]:
    step = 1.0 if name == POSITION else TWICE
    scaled, counted = (_effect(board, index, step, level) for board in boards)
    odds = [decimal(math.exp(end)) for end in counted]
    return (label, *odds, *(decimal(end * ELO_PER_LOG_UNIT, 2) for end in scaled))


def _effect(
    board: StyleBoard | None, index: int, step: float, level: float
) -> tuple[float, float, float]:
    """Return an effect and the ends of its interval, natural log; NaN where not known."""
    if board is None:
        return math.nan, math.nan, math.nan
    value = float(board.fit.coefficients[index]) * step
    reach = step * board.reach(len(board.fit.log_strengths) + index, level)
    return value, value - reach, value + reach


def _cautions(covered: Covered) -> list[str]:
    cautions = [*few_dialogues(len(covered.columns.units))]
    if POSITION not in covered.names:
        cautions.append("It is not known on which side completions were shown.")
    if covered.names == (POSITION,):
        cautions.append("The style of the completions is not known: position alone is held equal.")
    return cautions
