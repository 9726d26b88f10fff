"""The current answers of a study's raters, as plain values."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet

from annotation.choices import Protocol, Purpose
from annotation.models import Comparison, DimensionMark, Judgment, Study
from annotation.quality.queries.raters import kept_raters
from annotation.quality.rules.exclusions import active_seconds
from completions.dialogues.wording import count_words
from completions.models import Completion, Context

NO_MARKS: Mapping[str, int] = {}


class CurrentAnswer(NamedTuple):
    """The current answer to one lease, with what the lease and the comparison say.

    Verdict and marks are those of now; all else is that of the first sending, for whoever changes
    an answer has read the pair before. ``is_main`` is what counts for the ratings: neither a
    check nor a repeat. The fields before ``marks`` name columns.
    """

    pk: int
    is_main: bool
    lease: int
    rater: int
    verdict: int | None
    first_side: str
    shown_at: dt.datetime
    submitted_at: dt.datetime
    hidden_ms: int
    paused_ms: int
    comparison: int
    comparison__context: int
    comparison__first: int
    comparison__second: int | None
    lease__repeats: int | None
    lease__quality_check__kind: str | None
    lease__quality_check__expected: str | None
    lease__quality_check__dimension: str | None
    marks: Mapping[str, int]

    @property
    def seconds(self) -> float:
        """Return the time from shown to sent without what was hidden or paused."""
        return active_seconds(
            self.shown_at, self.submitted_at, hidden_ms=self.hidden_ms, paused_ms=self.paused_ms
        )

    @property
    def winner(self) -> int:
        """Return 1 for the first completion, -1 for the second, 0 for neither."""
        verdict = self.verdict or 0
        return (verdict > 0) - (verdict < 0)


COLUMNS = CurrentAnswer._fields[:-1]
IS_MAIN = Q(
    comparison__purpose=Purpose.MAIN,
    lease__quality_check__isnull=True,
    lease__repeats__isnull=True,
)


def read_answers(
    study: Study, *, as_of: dt.datetime, only: Q | None = None
) -> dict[int, CurrentAnswer]:
    """Return the current answer to each lease, by lease, in the order of first sending.

    With ``only`` those alone that it holds of, which must be every answer to a lease or none.

    Answers of the screening round are left out: it decided who came in. One query, or two when
    completions are rated alone.
    """
    given = Judgment.objects.filter(
        only or Q(),
        rater__in=kept_raters(study),
        submitted_at__lte=as_of,
        lease__is_screening=False,
    )
    rows = (
        given.annotate(is_main=ExpressionWrapper(IS_MAIN, BooleanField()))
        .order_by("submitted_at", "pk")
        .values_list(*COLUMNS)
    )
    marks = _marks(given) if study.protocol == Protocol.LIKERT else {}
    found: dict[int, CurrentAnswer] = {}
    for row in rows:
        answer = CurrentAnswer._make((*row, marks.get(row[0], NO_MARKS)))
        earlier = found.get(answer.lease)
        found[answer.lease] = (
            earlier._replace(verdict=answer.verdict, marks=answer.marks) if earlier else answer
        )
    return found


def _marks(given: QuerySet[Judgment]) -> dict[int, dict[str, int]]:
    found = defaultdict[int, dict[str, int]](dict)
    rows = DimensionMark.objects.filter(judgment__in=given)
    for judgment, dimension, value in rows.values_list("judgment", "dimension", "advantage"):
        found[judgment][dimension] = value
    return found


@dataclass(frozen=True)
class StudyTexts:
    """The system of each of a study's completions, and how many words texts have, by key."""

    systems: Mapping[int, str]
    words: Mapping[int, int]
    context_words: Mapping[int, int]

    @classmethod
    def of(cls, study: Study) -> "StudyTexts":
        """Count the words of all that the study shows, in two queries."""
        planned = Comparison.objects.filter(study=study)
        texts = Completion.objects.filter(
            Q(pk__in=planned.values("first")) | Q(pk__in=planned.values("second"))
        )
        contexts = Context.objects.filter(pk__in=planned.values("context"))
        systems, words = dict[int, str](), dict[int, int]()
        for pk, system, text in texts.values_list("pk", "system__slug", "text"):
            systems[pk], words[pk] = system, count_words(text)
        context_words = {
            pk: sum(count_words(turn["text"]) for turn in turns)
            for pk, turns in contexts.values_list("pk", "turns")
        }
        return cls(systems, words, context_words)

    def systems_of(self, answer: CurrentAnswer) -> tuple[str, str]:
        """Return the systems of the two completions that were compared."""
        return (
            self.systems[answer.comparison__first],
            self.systems[answer.comparison__second or 0],
        )

    def words_shown(self, answer: CurrentAnswer, *, is_new_dialogue: bool) -> int:
        """Return the words of the completions, and of the dialogue if it is read now."""
        n_words = self.words[answer.comparison__first]
        if answer.comparison__second is not None:
            n_words += self.words[answer.comparison__second]
        return n_words + (self.context_words[answer.comparison__context] if is_new_dialogue else 0)
