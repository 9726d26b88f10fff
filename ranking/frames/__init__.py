"""The one rule for which judgments count, and the way from their rows to arrays."""

from ranking.frames.columns import read_columns, read_dimension_columns
from ranking.frames.rule import (
    SIMULATED,
    Evaluators,
    Selection,
    analysis_set,
    has_simulated_contexts,
    n_decisions,
    n_judgments,
    read_evaluators,
    read_groups,
    read_stamps,
    read_verdicts,
    selected,
)

__all__ = [
    "SIMULATED",
    "Evaluators",
    "Selection",
    "analysis_set",
    "has_simulated_contexts",
    "n_decisions",
    "n_judgments",
    "read_columns",
    "read_dimension_columns",
    "read_evaluators",
    "read_groups",
    "read_stamps",
    "read_verdicts",
    "selected",
]
