"""Messages rated one by one: mean points, what they are without strictness, and their orders."""

from collections.abc import Iterator

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.likert.evaluators import each_judge_table, judges_table, strictness_table
from ranking.analyses.likert.means import (
    Measure,
    dimensions_table,
    every_mean_table,
    measures,
    normalised_table,
    scores_table,
)
from ranking.analyses.likert.orders import agreement_table, orders_of, orders_table
from ranking.findings import AnalysisRefusedError, Findings, Table
from ranking.judgments.scores import ScoreColumns
from ranking.numerics.few_units import few_units_warning
from ranking.numerics.rater_scales import FEWEST

FEWEST_JUDGES = 2
METHOD = (
    "Means of points with Student's t intervals, clustered by source dialogue; ranks from "
    "resampled dialogues, for all systems at once. Normalised: less the evaluator's own mean, over "
    "the evaluator's own standard deviation, which leans on that of all evaluators as if by five "
    "further ratings; it assumes that evaluators saw messages alike on average. Implied ratings: "
    "Bradley-Terry, wins whole, with the resamples of the fit."
)


def analyse(inputs: AnalysisInputs) -> Findings:
    """Describe the ratings.

    Raises
    ------
    AnalysisRefusedError
        If there are no ratings that cover all dimensions.
    """
    scores = inputs.scores
    if scores is None:
        msg = "These are judgments of pairs: no message was rated alone."
        raise AnalysisRefusedError(msg)
    if not scores.is_whole.any():
        msg = "No rating covers all dimensions."
        raise AnalysisRefusedError(msg)
    found = measures(scores)
    orders, refusal = orders_of(inputs, found[0])
    level, n_units = inputs.method.level, len(scores.units)
    tables = [
        scores_table(found[0], inputs.method),
        dimensions_table(found),
        orders_table(orders, found[0]),
        agreement_table(orders, n_units=n_units, level=level),
        *_with_judges(found, inputs),
        strictness_table(found[0], level),
        normalised_table(found),
        every_mean_table(found, level),
    ]
    warnings = tuple(_warnings(found[0], refusal))
    shown = tuple(table for table in tables if table.rows)
    return Findings(METHOD, shown, warnings)


def _with_judges(found: tuple[Measure, ...], inputs: AnalysisInputs) -> Iterator[Table]:
    is_judge = found[0].scores.is_judge
    if is_judge.any() and not is_judge.all():
        yield judges_table(found, inputs.method)
        if is_judge.sum() >= FEWEST_JUDGES:
            yield each_judge_table(found[0], inputs.method)


def _warnings(measure: Measure, refusal: str) -> Iterator[str]:
    """Say what the figures do not rest on, and what could not be computed."""
    scores = measure.scores
    few = few_units_warning(len(scores.units))
    if few is not None:
        yield few
    n_lacking = scores.n - int(scores.is_whole.sum())
    if n_lacking:
        yield (
            f"{n_lacking} of {scores.n} ratings lack a dimension: they count on the others, not in "
            "the mean over all."
        )
    yield from _of_scales(measure, scores)
    if refusal:
        yield f"The ratings imply no order by pairs: {refusal}"


def _of_scales(measure: Measure, scores: ScoreColumns) -> Iterator[str]:
    if measure.scales is None:
        yield (
            f"There are no normalised scores: nobody gave different points, or {FEWEST} ratings."
        )
        return
    n_left_out = int((~measure.scales.is_kept).sum())
    if n_left_out:
        yield (
            f"{n_left_out} of {len(scores.evaluators)} evaluators gave fewer than {FEWEST} ratings "
            "and are left out of normalised scores."
        )
    alone = np.bincount(scores.message)
    if (alone[alone > 0] == 1).all() and len(scores.evaluators) > 1:
        yield "Every message was rated once: nothing tells who is strict from what was seen."
