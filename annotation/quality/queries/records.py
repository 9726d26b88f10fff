"""From current answers to the records that the rules look at, or to a list of them."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet

from annotation.choices import CheckKind, Protocol, Purpose, Side
from annotation.models import Comparison, DimensionMark, Judgment, Rater, Study
from annotation.quality.queries.raters import kept_raters, raters_judged, reinstated_at, rules_of
from annotation.quality.rules import exclusions
from annotation.quality.rules.findings import PairAnswers
from annotation.quality.rules.records import CheckAnswer, MainAnswer, RaterRecord, Rules
from completions.dialogues.wording import count_words
from completions.models import Completion, Context

REPEAT, MAIN, LEFT_OUT = "REPEAT", "MAIN", "LEFT_OUT"
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
        return exclusions.active_seconds(
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


@dataclass(frozen=True)
class StudyQuality:
    """What the rules look at.

    ``records`` are in the order of ``raters``. ``pairs`` have all the answers they want;
    ``winners`` are those of all pairs. ``systems`` names the first and the second of each pair.
    """

    rules: Rules
    raters: tuple[Rater, ...]
    records: tuple[RaterRecord, ...]
    pairs: tuple[PairAnswers, ...]
    winners: tuple[Mapping[str, int], ...]
    systems: Mapping[int, tuple[str, str]]


def read_quality(study: Study, *, as_of: dt.datetime) -> StudyQuality:
    """Return all that the rules look at, as of a time, in six queries at most."""
    raters = raters_judged(study, as_of=as_of)
    answers = read_answers(study, as_of=as_of)
    by_rater = defaultdict[int, list[CurrentAnswer]](list)
    for answer in answers.values():
        by_rater[answer.rater].append(answer)
    texts, by_pair = StudyTexts.of(study), _by_pair(answers.values())
    codes = {rater.pk: rater.code for rater in raters}
    return StudyQuality(
        rules=rules_of(study),
        raters=raters,
        records=tuple(_record(rater, by_rater[rater.pk], answers, texts) for rater in raters),
        pairs=_full_pairs(by_pair, codes, quota=study.judgments_per_pair),
        winners=tuple(_winners(found, codes) for found in by_pair.values()),
        systems={pair: texts.systems_of(found[0]) for pair, found in by_pair.items()},
    )


def _by_pair(answers: Iterable[CurrentAnswer]) -> dict[int, list[CurrentAnswer]]:
    """Return the answers to each pair of two completions, in the order in which they came."""
    found = defaultdict[int, list[CurrentAnswer]](list)
    for answer in answers:
        if answer.is_main and answer.verdict is not None:
            found[answer.comparison].append(answer)
    return found


def _winners(answers: Iterable[CurrentAnswer], codes: Mapping[int, str]) -> dict[str, int]:
    return {codes[answer.rater]: answer.winner for answer in answers}


def _full_pairs(
    by_pair: Mapping[int, list[CurrentAnswer]], codes: Mapping[int, str], *, quota: int
) -> tuple[PairAnswers, ...]:
    """Return the pairs that have as many answers as they want, in the order they had them.

    Answers beyond those (surplus) are left out, so that what a pair says is settled.
    """
    full = [(pair, answers[:quota]) for pair, answers in by_pair.items() if len(answers) >= quota]
    full.sort(key=lambda item: (item[1][-1].submitted_at, item[0]))
    return tuple(PairAnswers(pair, _winners(answers, codes)) for pair, answers in full)


def _record(
    rater: Rater,
    own: Sequence[CurrentAnswer],
    answers: Mapping[int, CurrentAnswer],
    texts: StudyTexts,
) -> RaterRecord:
    """Return the record of one rater from the rater's own answers, in their order."""
    checks, mains, read = [], [], set[int]()
    for answer in own:
        context = answer.comparison__context
        n_words = texts.words_shown(answer, is_new_dialogue=context not in read)
        read.add(context)
        if answer.is_main:
            mains.append(_main(answer, n_words))
        elif (check := check_of(answer, answers)) is not None:
            checks.append(check)
    return RaterRecord(rater.code, tuple(checks), tuple(mains), reinstated_at(rater))


def _main(answer: CurrentAnswer, n_words: int) -> MainAnswer:
    winner = answer.winner
    sign = 1 if answer.first_side == Side.A else -1
    return MainAnswer(
        pair=answer.comparison,
        shown=_on_screen(answer, sign),
        side=sign * winner,
        winner=winner,
        seconds=answer.seconds,
        words=n_words,
        at=answer.submitted_at,
    )


def _on_screen(answer: CurrentAnswer, sign: int) -> str:
    """Return the answer as the screen had it; of a rating, that of every dimension."""
    if answer.verdict is not None:
        return _signed(sign * answer.verdict)
    return " ".join(f"{key}{value}" for key, value in sorted(answer.marks.items()))


@cache
def _signed(verdict: int) -> str:
    return f"{verdict:+d}"


def attention_checks(study: Study, *, as_of: dt.datetime) -> dict[int, list[CheckAnswer]]:
    """Return how attention checks went, by rater's key, in the order of first sending.

    One query, or two when completions are rated alone.
    """
    planted = Q(lease__quality_check__kind=CheckKind.ATTENTION)
    answers = read_answers(study, as_of=as_of, only=planted)
    found = defaultdict[int, list[CheckAnswer]](list)
    for answer in answers.values():
        if (check := check_of(answer, answers)) is not None:
            found[answer.rater].append(check)
    return found


def check_of(answer: CurrentAnswer, answers: Mapping[int, CurrentAnswer]) -> CheckAnswer | None:
    """Return how a check or a repeat went; None if what it repeats is not to be seen."""
    if answer.lease__repeats is None:
        is_passed = exclusions.is_passed(
            answer.verdict,
            answer.marks.get(str(answer.lease__quality_check__dimension)),
            expected=str(answer.lease__quality_check__expected),
        )
        return CheckAnswer(str(answer.lease__quality_check__kind), is_passed, answer.submitted_at)
    earlier = answers.get(answer.lease__repeats)
    if earlier is None:
        return None
    return CheckAnswer(REPEAT, _is_consistent(earlier, answer), answer.submitted_at)


def _is_consistent(earlier: CurrentAnswer, later: CurrentAnswer) -> bool:
    if earlier.verdict is None or later.verdict is None:
        return exclusions.are_ratings_consistent(earlier.marks, later.marks)
    return exclusions.is_repeat_consistent(earlier.verdict, later.verdict)


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
    planted = answer.lease__quality_check__kind or (REPEAT if answer.lease__repeats else MAIN)
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
