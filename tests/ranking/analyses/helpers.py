"""Judgments as columns, made up: whole studies, and a handful written out."""

import numpy as np
from scipy import special

from ranking.analyses import AnalysisInputs
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.method import Method
from ranking.numerics.strength_mode import StrengthMode


def make_inputs(columns, *, strength=StrengthMode.SOFT, **kwargs):
    method = Method(
        strength=strength, slightly=2, much=4, level=0.95, replicates=100, seed=1, **kwargs
    )
    return AnalysisInputs(columns, method, {})


def make_columns(rows, *, judges=(), features=None, feature_names=()):
    """Write judgments out: (unit, item, first, second, evaluator, strength, shown)."""
    unit, item, first, second, evaluator, strength, shown = zip(*rows, strict=True)
    systems = tuple(sorted({*first, *second}))
    units, evaluators = tuple(sorted(set(unit))), tuple(sorted(set(evaluator)))
    return JudgmentColumns(
        systems=systems,
        units=units,
        evaluators=evaluators,
        is_judge=np.array([name in judges for name in evaluators]),
        unit=np.array([units.index(one) for one in unit]),
        item=np.array(item),
        first=np.array([systems.index(one) for one in first]),
        second=np.array([systems.index(one) for one in second]),
        evaluator=np.array([evaluators.index(one) for one in evaluator]),
        strength=np.array(strength),
        shown=np.array(shown),
        features=features,
        feature_names=feature_names,
    )


def simulate(
    rng,
    *,
    theta=(0.8, 0.3, -0.2, -0.9),
    n_units=40,
    pairs_per_unit=4,
    n_raters=6,
    n_judges=2,
    per_pair=4,
    thresholds=(0.4, 1.1, 2.0),
    position=0.0,
    length=0.0,
):
    """Simulate a study: pairs of dialogues, several evaluators each, graded answers."""
    theta = np.asarray(theta, dtype=float)
    n_items, n_evaluators = n_units * pairs_per_unit, n_raters + n_judges
    one = rng.integers(0, len(theta), n_items)
    other = (one + rng.integers(1, len(theta), n_items)) % len(theta)
    lengths = rng.integers(50, 400, size=(n_items, 2)).astype(float)
    item = np.repeat(np.arange(n_items), per_pair)
    evaluator = np.concatenate([rng.permutation(n_evaluators)[:per_pair] for _ in range(n_items)])
    shown = rng.choice([-1, 1], len(item))
    longer = (lengths[:, 0] - lengths[:, 1]) / lengths.sum(axis=1)
    felt = (theta[one] - theta[other] + length * longer)[item] + position * shown
    felt = felt + special.logit(rng.uniform(size=len(item)))
    names = [f"r{n:02d}" for n in range(n_raters)] + [f"z-judge-{n}" for n in range(n_judges)]
    return JudgmentColumns(
        systems=tuple(f"system-{n}" for n in range(len(theta))),
        units=tuple(f"dialogue-{n:03d}" for n in range(n_units)),
        evaluators=tuple(names),
        is_judge=np.arange(n_evaluators) >= n_raters,
        unit=item // pairs_per_unit,
        item=item,
        first=one[item],
        second=other[item],
        evaluator=evaluator,
        strength=np.sign(felt).astype(int) * np.searchsorted(thresholds, np.abs(felt)),
        shown=shown,
        features=lengths[..., None],
        feature_names=("length",),
    )


def table(findings, key):
    """Return a table's rows as mappings from keys of columns to cells."""
    found = next(one for one in findings.tables if one.key == key)
    return [dict(zip([c.key for c in found.columns], row, strict=True)) for row in found.rows]
