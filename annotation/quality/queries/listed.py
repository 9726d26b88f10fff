"""The answers of one rater, one by one: the rows behind the figures."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Q

from annotation.models import Rater
from annotation.quality.queries.answers import CurrentAnswer, read_answers
from annotation.quality.queries.records import check_of
from completions.models import Completion

MAIN = "MAIN"
LEFT_OUT = "LEFT_OUT"


@dataclass(frozen=True)
class ListedAnswer:
    """One answer as it stands now, with the time of its first sending.

    ``kind`` is that of a check, ``REPEAT``, or ``MAIN`` for what is neither; who knows the
    analysis set says ``LEFT_OUT`` of a main answer that does not count. ``marks`` are there where
    a message was rated alone; ``is_passed`` is None of what is no check.
    """

    lease: int
    at: dt.datetime
    kind: str
    first: str
    second: str
    verdict: int | None
    marks: tuple[tuple[str, int], ...]
    first_side: str
    seconds: float
    is_passed: bool | None

    @property
    def is_check(self) -> bool:
        """Whether it is a check or a repeat."""
        return self.kind not in {MAIN, LEFT_OUT}


def answers_given(rater: Rater, *, as_of: dt.datetime) -> tuple[ListedAnswer, ...]:
    """Return the current answers of a rater, the newest first, in three queries at most.

    Those of the screening round are left out, and all of a rater whose answers never count.
    """
    answers = read_answers(rater.study, as_of=as_of, only=Q(rater=rater.pk))
    given = answers.values()
    texts = {key for one in given for key in (one.comparison__first, one.comparison__second) if key}
    systems = dict(Completion.objects.filter(pk__in=texts).values_list("pk", "system__slug"))
    return tuple(_listed(one, answers, systems) for one in reversed(given))


def _listed(
    answer: CurrentAnswer, answers: Mapping[int, CurrentAnswer], systems: Mapping[int, str]
) -> ListedAnswer:
    check = None if answer.is_main else check_of(answer, answers)
    planted = answer.lease__quality_check__kind or ("REPEAT" if answer.lease__repeats else MAIN)
    return ListedAnswer(
        lease=answer.lease,
        at=answer.submitted_at,
        kind=planted if check is None else check.kind,
        first=systems[answer.comparison__first],
        second=systems.get(answer.comparison__second or 0, ""),
        verdict=answer.verdict,
        marks=tuple(sorted(answer.marks.items())),
        first_side=answer.first_side,
        seconds=answer.seconds,
        is_passed=None if check is None else check.is_passed,
    )
