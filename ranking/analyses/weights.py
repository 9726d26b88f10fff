"""Dimensions by weight: a composite for whom some dimensions matter more than others."""

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.joint_boards import JointBoards, jointly_rated
from ranking.analyses.weighing import equal_board
from ranking.findings import AnalysisRefusedError, Column, ColumnKind, Findings, Table
from ranking.numerics.composites import sensitivity
from ranking.numerics.few_units import few_units_warning
from ranking.numerics.strength_mode import StrengthMode

N_DRAWS = 10_000
METHOD = (
    "Weighted mean of the Elo of each dimension, rated as on the page of the dimensions. All "
    "dimensions are resampled together: a source dialogue brings its marks on each of them, so "
    "that what they have in common is in the intervals. Those are percentiles over the resamples; "
    "ranks hold for all systems at once. Weights act on Elo points: a dimension on which systems "
    "lie farther apart moves the composite more."
)
SENSITIVITY = (
    Column("system", "System", ColumnKind.SYSTEM),
    Column("first", "First place", ColumnKind.SHARE),
    Column("first_resampled", "First place, dialogues drawn anew too", ColumnKind.SHARE),
    Column("best", "Best rank met", ColumnKind.COUNT),
    Column("worst", "Worst rank met", ColumnKind.COUNT),
    Column("least", "Least Elo", ColumnKind.ELO),
    Column("most", "Most Elo", ColumnKind.ELO),
)


def analyse(inputs: AnalysisInputs) -> Findings:
    """Rate the systems under equal weights, and say what other weights could change.

    What any other weights need is kept with the findings.

    Raises
    ------
    AnalysisRefusedError
        If no dimension was marked, or fewer than two dimensions or systems can be compared.
    """
    if not inputs.dimensions:
        msg = "No judgment marks a dimension of the rubric."
        raise AnalysisRefusedError(msg)
    boards, notes = jointly_rated(inputs.dimensions, inputs.method)
    tables = (equal_board(boards), _sensitivity_table(boards, inputs.method.seed))
    warnings = (*_warnings(inputs, boards), *notes)
    return Findings(METHOD, tables, warnings, kept=boards.as_stored())


def _sensitivity_table(boards: JointBoards, seed: int) -> Table:
    """Return what weights drawn at random make of each system, the likeliest first place first."""
    rng = np.random.default_rng(seed)
    found = sensitivity(boards.ratings, n_draws=N_DRAWS, rng=rng)
    elo = boards.ratings.estimate
    leader = int(np.argmax(elo.mean(axis=0)))
    rows = (
        (
            boards.systems[n],
            round(float(found.first[n]), 4),
            round(float(found.first_resampled[n]), 4),
            int(found.best[n]),
            int(found.worst[n]),
            round(float(elo[:, n].min()), 2),
            round(float(elo[:, n].max()), 2),
        )
        for n in np.lexsort((-elo.mean(axis=0), -found.first))
    )
    caption = (
        f"{N_DRAWS:,} weights drawn at random, all alike likely: how often each system comes first "
        "by the ratings as they are, and if each draw meets one resampled set of dialogues. "
        f"The first place of equal weights stays first under {100 * found.first[leader]:.1f} % of "
        "them. Least and most Elo are what any weights at all can make of a system."
    )
    title = "How much the weights matter"
    return Table("sensitivity", title, caption, SENSITIVITY, tuple(rows))


def _warnings(inputs: AnalysisInputs, boards: JointBoards) -> list[str]:
    few = few_units_warning(int(boards.ratings.n_units.min()))
    warnings = [] if few is None else [few]
    replicates = boards.ratings.replicates
    without = int((~np.isfinite(replicates).all(axis=(1, 2))).sum())
    if without:
        warnings.append(
            f"{without} of {len(replicates)} resamples leave systems unconnected on some "
            "dimension: weights that count it rest on the others."
        )
    if _has_two_scales(inputs, boards):
        warnings.append(
            "Marks have sizes on some dimensions alone: Elo lies farther apart where they have "
            "none, so that those dimensions move the composite more than their weights say."
        )
    return warnings


def _has_two_scales(inputs: AnalysisInputs, boards: JointBoards) -> bool:
    """Say whether some dimensions are rated with whole wins and others with strengths."""
    if inputs.method.strength is StrengthMode.IGNORE:
        return False
    marks = (inputs.dimensions[name].strength for name in boards.dimensions)
    return len({bool((np.abs(strength) > 1).any()) for strength in marks}) > 1
