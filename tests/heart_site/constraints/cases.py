"""Ways to break every named constraint and every unique column."""

from tests.heart_site.constraints import (
    access,
    caring,
    completions,
    external,
    judgments,
    naming,
    preparing,
    ranking,
    rating_work,
    running,
    writing,
)
from tests.heart_site.constraints.rules import Case

CASES: list[Case] = [
    *access.CASES,
    *completions.CASES,
    *writing.CASES,
    *preparing.CASES,
    *naming.CASES,
    *running.CASES,
    *rating_work.CASES,
    *judgments.CASES,
    *caring.CASES,
    *external.CASES,
    *ranking.CASES,
]
