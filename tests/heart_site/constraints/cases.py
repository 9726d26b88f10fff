"""Ways to break every named constraint and every unique column."""

from tests.heart_site.constraints import (
    access,
    calls,
    caring,
    completions,
    judgments,
    ranking,
    rating_work,
)

CASES = [
    *access.CASES,
    *completions.CASES,
    *calls.CASES,
    *rating_work.CASES,
    *judgments.CASES,
    *caring.CASES,
    *ranking.CASES,
]
