"""What each message scored on each dimension, from the marks against its opponents."""

from dataclasses import dataclass

import numpy as np

from ranking.analyses import Ground
from ranking.findings import AnalysisRefusedError
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.sources import ItemFacts
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.factors import FEWEST_MEASURES

FEWEST_MESSAGES = 30


@dataclass(frozen=True)
class Scored:
    """Messages with a mark on every dimension: ``z`` of shape (n_messages, n_dimensions).

    ``won`` is the share of its judgments that each message won, ties half, ``unit`` its source
    dialogue, both of shape (n_messages,). ``n_marks`` is how many marks the scores rest on.
    """

    names: tuple[str, ...]
    z: Floats
    won: Floats
    unit: Integers
    n_marks: int


def scored_messages(ground: Ground) -> Scored:
    """Score the messages that are marked on every dimension.

    Raises
    ------
    AnalysisRefusedError
        If there are fewer than three dimensions or too few messages, or marks on one do not vary.
    """
    if len(ground.dimensions) < FEWEST_MEASURES:
        msg = f"Fewer than {FEWEST_MEASURES} dimensions were marked, so there is nothing to share."
        raise AnalysisRefusedError(msg)
    items = ground.sources.items()
    names = tuple(ground.dimensions)
    means = [_means(one, items, np.sign(one.strength)) for one in ground.dimensions.values()]
    scores = np.stack([mean for mean, _ in means], axis=1)
    kept = np.isfinite(scores).all(axis=1)
    if kept.sum() < FEWEST_MESSAGES:
        msg = (
            f"{int(kept.sum())} messages are marked on every dimension, and {FEWEST_MESSAGES} are "
            "needed."
        )
        raise AnalysisRefusedError(msg)
    scores = scores[kept]
    _check_variation(scores, names)
    columns = ground.columns
    share, _ = _means(columns, items, np.sign(columns.strength))
    z = (scores - scores.mean(axis=0)) / scores.std(axis=0, ddof=1)
    n_marks = int(sum(n[kept].sum() for _, n in means))
    _, unit = np.unique(_units(columns, items)[kept], return_inverse=True)
    return Scored(names, z, (share[kept] + 1.0) / 2.0, unit, n_marks)


def _check_variation(scores: Floats, names: tuple[str, ...]) -> None:
    still = np.ptp(scores, axis=0) == 0
    if still.any():
        msg = f"All messages have the same marks on {names[int(still.argmax())]}."
        raise AnalysisRefusedError(msg)


def _means(columns: JudgmentColumns, items: ItemFacts, lead: Integers) -> tuple[Floats, Integers]:
    """Return each message's mean lead over its opponents, NaN without one, and how many."""
    item = columns.item if columns.origin is None else columns.origin[columns.item]
    first, second = items.message[item].T
    n_messages = len(items.system)
    message = np.concatenate([first, second])
    n = np.bincount(message, minlength=n_messages)
    total = np.bincount(message, np.concatenate([lead, -lead]), n_messages)
    return total / np.where(n > 0, n, np.nan), n


def _units(columns: JudgmentColumns, items: ItemFacts) -> Integers:
    """Return the source dialogue of each message."""
    unit = np.zeros(len(items.system), dtype=np.int64)
    for side in (0, 1):
        unit[items.message[columns.item, side]] = columns.unit
    return unit
