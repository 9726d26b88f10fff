"""The answer of the command as JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ranking.files.ratings.options import LEVEL, Interval, Options, Ties
from ranking.files.ratings.rating import Rated
from ranking.numerics.strength_mode import StrengthMode

# The standard deviation of a 2.5 % quantile of R draws, in standard errors, is this over sqrt(R).
QUANTILE_NOISE = 2.671
ESTIMATORS = {
    Ties.HALF: "Bradley-Terry, maximum likelihood, ties as half a win to each side",
    Ties.DROP: "Bradley-Terry, maximum likelihood, ties left out",
    Ties.DAVIDSON: "Davidson's model with ties, maximum likelihood",
    Ties.RAO_KUPPER: "the model of Rao and Kupper with ties, maximum likelihood",
}
STRENGTHS = {
    StrengthMode.SOFT: "the winner takes 0.55, 0.65, 0.75, 0.85 or 0.95 of a judgment",
    StrengthMode.MULTIPLY: "a judgment counts as many times as its strength",
    StrengthMode.IGNORE: "the winner takes the judgment, once",
}
INTERVALS = {
    Interval.BOOTSTRAP: "bootstrap of units, refitted, percentiles",
    Interval.SANDWICH: "cluster-robust covariance by unit, t quantiles",
    Interval.FISHER: "inverse information, normal quantiles",
    Interval.PAPER: "1 / sqrt(n), normal quantiles",
}


def as_json(
    rated: Rated, options: Options, by: Mapping[str, Rated] | None = None
) -> dict[str, Any]:
    """Return the answer with the keys that docs/files.md lists; ``by`` holds one per group."""
    answer: dict[str, Any] = {
        "method": _method(rated, options),
        "n_judgments": rated.chosen.judgments.n_judgments,
        "converged": rated.refusal is None,
        "components": [list(group) for group in rated.components],
        "warnings": list(rated.warnings),
        "systems": [asdict(row) for row in rated.rows],
    }
    if rated.joining:
        answer["joining"] = list(rated.joining)
    if by is not None:
        answer["by"] = {value: as_json(one, options) for value, one in by.items()}
    return answer


def _method(rated: Rated, options: Options) -> dict[str, Any]:
    strength = rated.chosen.strength
    method: dict[str, Any] = {
        "estimator": ESTIMATORS[options.ties],
        "strength": strength.value,
        "strength_means": STRENGTHS[strength],
        "ties": options.ties.value,
        "regulariser": None,
        "evaluators": rated.chosen.evaluators.value,
        "ci": options.interval.value,
        "ci_means": INTERVALS[options.interval],
        "level": LEVEL,
        "unit": options.unit,
        "n_units": rated.n_units,
        "replicates": options.replicates,
        "replicates_without_maximum": rated.n_without_maximum,
        "seed": options.seed,
        "ranks": "simultaneous pairwise differences (max-t)",
        "tiers": "a system joins while its upper end reaches the lower end of the tier's first",
        "scale": "theta: natural log, mean 0; elo: 1500 + 400 theta / ln 10",
        "per_component": options.per_component and len(rated.components) > 1,
    }
    if rated.draw_parameter is not None:
        name = "nu" if options.ties is Ties.DAVIDSON else "ln eta"
        method["draw_parameter"] = {"name": name, "value": rated.draw_parameter}
    if options.interval is Interval.BOOTSTRAP:
        method["monte_carlo_error"] = _noise(rated, options)
    return method


def _noise(rated: Rated, options: Options) -> float | None:
    """Return how far chance may move the end of an interval, in Elo points, at most."""
    errors = [row.se for row in rated.rows if row.se is not None]
    return max(errors) * QUANTILE_NOISE / options.replicates**0.5 if errors else None
