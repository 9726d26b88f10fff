"""The one rule for which judgments count, and the way from their rows to arrays."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from ranking.judgments.analysis_set import (
        OVERLAP,
        Selection,
        analysis_set,
        is_deleted_after,
        n_decisions,
        n_given,
        n_judgments,
        newest_judgment,
        selected,
    )
    from ranking.judgments.frames.columns import (
        read_columns,
        read_columns_and_dimensions,
        read_evaluators,
        read_implied,
        read_judgments,
        read_scores,
        read_style,
    )
    from ranking.judgments.frames.groups import (
        grouped,
        read_answers,
        read_compared,
        read_groups,
        read_outside,
        read_stamp,
        read_stamps,
        read_verdicts,
    )
    from ranking.judgments.frames.keeping import keep_counts
    from ranking.judgments.frames.kept import kept_rows, packed, rule
    from ranking.judgments.frames.sources import DatabaseSources
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "OVERLAP",
    "DatabaseSources",
    "Selection",
    "analysis_set",
    "grouped",
    "is_deleted_after",
    "keep_counts",
    "kept_rows",
    "n_decisions",
    "n_given",
    "n_judgments",
    "newest_judgment",
    "packed",
    "read_answers",
    "read_columns",
    "read_columns_and_dimensions",
    "read_compared",
    "read_evaluators",
    "read_groups",
    "read_implied",
    "read_judgments",
    "read_outside",
    "read_scores",
    "read_stamp",
    "read_stamps",
    "read_style",
    "read_verdicts",
    "rule",
    "selected",
]
