"""Whether a rater has understood the task, by the questions of the study file; pure.

Two tries at the start and never a reason to reject anybody's work: crowd platforms ask for both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TRIES = 2


@dataclass(frozen=True)
class ComprehensionQuestion:
    """One question with its answers, the place of the right one, and why it is right."""

    text: str
    options: tuple[str, ...]
    right: int
    why: str = ""


@dataclass(frozen=True)
class TryOutcome:
    """How a try went: which questions, by place, were not answered rightly."""

    wrong: tuple[int, ...]
    tries_left: int

    @property
    def is_passed(self) -> bool:
        """Whether every question was answered rightly."""
        return not self.wrong

    @property
    def is_over(self) -> bool:
        """Whether the rater failed and has no further try."""
        return bool(self.wrong) and self.tries_left == 0


def judge_answers(
    questions: Sequence[ComprehensionQuestion], answers: Mapping[int, int], *, tries_before: int
) -> TryOutcome:
    """Compare the chosen places with the right ones; what was left out is wrong.

    Raises
    ------
    ValueError
        If the rater has had every try already: there is nothing left to judge.
    """
    if tries_before >= TRIES:
        msg = f"all {TRIES} tries were used"
        raise ValueError(msg)
    wrong = tuple(
        place for place, question in enumerate(questions) if answers.get(place) != question.right
    )
    return TryOutcome(wrong, tries_left=TRIES - tries_before - 1)
