"""Ways to break every named constraint and every unique column."""

from tests.db.constraints import completions, judgments, ranking, rating_work
from tests.db.constraints.rules import Case

CASES: list[Case] = [*completions.CASES, *rating_work.CASES, *judgments.CASES, *ranking.CASES]
