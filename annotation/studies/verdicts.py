"""Pure rules of answers: which scale a protocol has, and the way from screen to canonical frame."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

LIKERT = "LIKERT"
RATINGS = range(1, 6)
SCALES: Mapping[str, frozenset[int]] = {
    "PREFERENCE": frozenset({-2, -1, 0, 1, 2}),
    "RUBRIC": frozenset({-5, -4, -3, -2, -1, 1, 2, 3, 4, 5}),
}
FARTHEST_MARK = 5


class InvalidAnswerError(ValueError):
    """An answer or a mark is not on its scale, or a mark is of an unknown dimension."""


@dataclass(frozen=True)
class Answer:
    """What an evaluator said, in the frame of the screen: positive favours side A.

    ``marks`` maps the key of a dimension to the advantage of side A on it (0 is neither). A
    likert answer has no verdict, and its marks are ratings from 1 to 5. ``chips`` are the keys
    of the reasons that were ticked.
    """

    verdict: int | None
    rationale: str
    marks: Mapping[str, int] = field(default_factory=dict)
    chips: frozenset[str] = frozenset()


def check_answer(
    answer: Answer, *, protocol: str, dimensions: Collection[str], chips: Collection[str] = ()
) -> None:
    """Refuse an answer that the protocol does not admit.

    Raises
    ------
    InvalidAnswerError
        Naming the value at fault and what would be accepted.
    """
    if protocol == LIKERT:
        _check_ratings(answer, dimensions=dimensions)
    elif answer.verdict not in SCALES[protocol]:
        msg = f"verdict {answer.verdict} is not one of {sorted(SCALES[protocol])}"
        raise InvalidAnswerError(msg)
    if protocol == "PREFERENCE" and answer.marks:
        msg = "a preference answer has no marks: its raters never see the rubric"
        raise InvalidAnswerError(msg)
    if unknown := sorted(set(answer.marks) - set(dimensions)):
        msg = f"unknown dimensions {unknown}: the rubric has {sorted(dimensions)}"
        raise InvalidAnswerError(msg)
    if beyond := [key for key, value in answer.marks.items() if abs(value) > FARTHEST_MARK]:
        msg = f"marks of {sorted(beyond)} are beyond {FARTHEST_MARK} for either side"
        raise InvalidAnswerError(msg)
    if unknown := sorted(answer.chips - set(chips)):
        msg = f"unknown chips {unknown}: the study has {sorted(chips)}"
        raise InvalidAnswerError(msg)


def _check_ratings(answer: Answer, *, dimensions: Collection[str]) -> None:
    if answer.verdict is not None:
        msg = "a likert answer has no verdict: one completion is rated alone"
        raise InvalidAnswerError(msg)
    if lacking := sorted(set(dimensions) - set(answer.marks)):
        msg = f"the dimensions {lacking} are not rated"
        raise InvalidAnswerError(msg)
    if beyond := sorted(key for key, value in answer.marks.items() if value not in RATINGS):
        msg = f"ratings of {beyond} are not between 1 and 5"
        raise InvalidAnswerError(msg)


def swap_frame(answer: Answer, *, first_is_a: bool) -> Answer:
    """Return the answer in the other frame; screen and canonical frame differ by one sign."""
    if answer.verdict is None:
        return answer  # one completion alone has no sides
    sign = 1 if first_is_a else -1
    marks = {key: sign * value for key, value in answer.marks.items()}
    return replace(answer, verdict=sign * answer.verdict, marks=marks)
