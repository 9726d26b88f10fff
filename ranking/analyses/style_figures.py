"""The judgments whose texts were measured, and how the two texts of each differ in style."""

from dataclasses import dataclass

import numpy as np

from ranking.analyses import Ground
from ranking.analyses.common import judgment_weights
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.arrays import Booleans, Floats

POSITION = "position"
LABELS = {
    "length": "Length in characters, twice as long",
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


def cover(ground: Ground) -> tuple[Covered, list[str]]:
    """Keep the judgments whose figures are known, and the figures that differ at all."""
    columns, warnings = ground.columns, []
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
    weights = judgment_weights(columns, ground.method)[known]
    return Covered(kept, weights, told_names, values[:, tells]), warnings


def _all(columns: JudgmentColumns) -> Booleans:
    return np.ones(columns.n_judgments, dtype=np.bool_)


def _differences(columns: JudgmentColumns) -> Floats:
    """Return (a - b) / (a + b) of each figure, 0 where both are 0; shape (n_items, n)."""
    if columns.features is None:
        return np.empty((columns.n_items, 0))
    first, second = columns.features[:, 0], columns.features[:, 1]
    total = first + second
    differences: Floats = (first - second) / np.where(total == 0, 1.0, total)
    return differences
