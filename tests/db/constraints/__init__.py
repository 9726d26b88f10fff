"""Ways to break every named constraint and every unique column."""

from tests.db.constraints import (
    caring,
    completions,
    judgments,
    naming,
    preparing,
    ranking,
    rating_work,
    running,
    writing,
)
from tests.db.constraints.rules import Case

CASES: list[Case] = [
    *completions.CASES,
    *writing.CASES,
    *preparing.CASES,
    *naming.CASES,
    *running.CASES,
    *rating_work.CASES,
    *judgments.CASES,
    *caring.CASES,
    *ranking.CASES,
]
