"""The current answers of a study's raters, as plain values."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Q

from annotation.choices import Protocol, Purpose
from annotation.models import Comparison, DimensionMark, Judgment, Study
from annotation.quality.queries.raters import kept_raters
from completions.dialogues.wording import count_words
from completions.models import Completion, Context

NO_MARKS: Mapping[str, int] = {}


class Row(NamedTuple):
    """One judgment with what its lease and its comparison say; the fields name the columns."""

    pk: int
    lease: int
    rater: int
    verdict: int | None
    first_side: str
    shown_at: dt.datetime
    submitted_at: dt.datetime
    hidden_ms: int
    paused_ms: int
    comparison: int
    comparison__purpose: str
    comparison__context: int
    comparison__first: int
    comparison__second: int | None
    lease__repeats: int | None
    lease__quality_check__kind: str | None
    lease__quality_check__expected: str | None
    lease__quality_check__dimension: str | None


class CurrentAnswer(NamedTuple):
    """The current answer to one lease: what it says now, and the row of its first sending.

    Times are taken from the first sending: whoever changes an answer has read the pair before.
    """

    row: Row
    verdict: int | None
    marks: Mapping[str, int]

    @property
    def is_main(self) -> bool:
        """Whether it counts for the ratings: neither a check nor a repeat."""
        row = self.row
        planted = row.lease__quality_check__kind is not None or row.lease__repeats is not None
        return row.comparison__purpose == Purpose.MAIN and not planted

    @property
    def winner(self) -> int:
        """Return 1 for the first completion, -1 for the second, 0 for neither."""
        verdict = self.verdict or 0
        return (verdict > 0) - (verdict < 0)


def read_answers(
    study: Study, *, as_of: dt.datetime, rater: int | None = None
) -> dict[int, CurrentAnswer]:
    """Return the current answer to each lease, by lease, in the order of first sending.

    With ``rater`` those of the rater of that key alone.

    Answers of the screening round are left out: it decided who came in. One query, or two when
    completions are rated alone.
    """
    raters = kept_raters(study)
    rows = (
        Judgment.objects.filter(
            rater__in=raters if rater is None else raters.filter(pk=rater),
            submitted_at__lte=as_of,
            lease__is_screening=False,
        )
        .order_by("submitted_at", "pk")
        .values_list(*Row._fields)
    )
    marks = _marks(study, as_of=as_of) if study.protocol == Protocol.LIKERT else {}
    found: dict[int, CurrentAnswer] = {}
    for row in map(Row._make, rows):
        earlier = found.get(row.lease)
        first = earlier.row if earlier else row
        found[row.lease] = CurrentAnswer(first, row.verdict, marks.get(row.pk, NO_MARKS))
    return found


def _marks(study: Study, *, as_of: dt.datetime) -> dict[int, dict[str, int]]:
    found = defaultdict[int, dict[str, int]](dict)
    rows = DimensionMark.objects.filter(
        judgment__rater__study=study, judgment__submitted_at__lte=as_of
    )
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

    def systems_of(self, row: Row) -> tuple[str, str]:
        """Return the systems of the two completions that were compared."""
        return self.systems[row.comparison__first], self.systems[row.comparison__second or 0]

    def words_shown(self, row: Row, *, is_new_dialogue: bool) -> int:
        """Return the words of the completions, and of the dialogue if it is read now."""
        n_words = self.words[row.comparison__first]
        if row.comparison__second is not None:
            n_words += self.words[row.comparison__second]
        return n_words + (self.context_words[row.comparison__context] if is_new_dialogue else 0)
