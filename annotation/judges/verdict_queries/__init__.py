"""Reads of what LLM judges said: accounts, position, the ensemble, and one comparison's calls."""

from annotation.judges.verdict_queries.comparison import (
    CallRow,
    JudgedPair,
    JudgeSection,
    judged_pair,
)
from annotation.judges.verdict_queries.page import (
    SHOWS,
    ComparisonNames,
    EnsembleRow,
    JudgeAccountRow,
    JudgesFigures,
    JudgesPage,
    facts_of,
    judge_rows,
    judges_figures,
    judges_page,
)
from annotation.judges.verdict_queries.tallies import (
    Judged,
    Panel,
    alike_tallies,
    judged_comparisons,
    panel_of,
)

__all__ = [
    "SHOWS",
    "CallRow",
    "ComparisonNames",
    "EnsembleRow",
    "JudgeAccountRow",
    "JudgeSection",
    "Judged",
    "JudgedPair",
    "JudgesFigures",
    "JudgesPage",
    "Panel",
    "alike_tallies",
    "facts_of",
    "judge_rows",
    "judged_comparisons",
    "judged_pair",
    "judges_figures",
    "judges_page",
    "panel_of",
]
