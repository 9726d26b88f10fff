"""All that a fit rests on: judgments added up, and those of people's texts one by one."""

from collections.abc import Iterator
from dataclasses import replace

from django.db.models import Count, Q

from annotation.choices import Protocol
from completions.choices import SystemKind
from completions.models import System
from ranking.judgments.analysis_set import Selection, selected
from ranking.judgments.frames.groups import read_groups
from ranking.judgments.frames.scores import read_implied
from ranking.judgments.groups import GroupedJudgments, TextGroup

FIRST_IS_PEOPLE = Q(comparison__first__system__kind=SystemKind.HUMAN)
SECOND_IS_PEOPLE = Q(comparison__second__system__kind=SystemKind.HUMAN)
FIRST = ("comparison__first", "comparison__second__system__slug")
SECOND = ("comparison__second", "comparison__first__system__slug")
PLACE = ("comparison__context__dialogue__content_hash", "comparison__context")
ANSWER = ("rater__code", "judge__slug", "protocol", "verdict")


def read_judgments(selection: Selection) -> GroupedJudgments:
    """Read all that a fit rests on: single texts of people too, if there are any.

    Of a likert study that is what its ratings imply, without single texts.
    """
    if selection.study.protocol == Protocol.LIKERT:
        return read_implied(selection)
    judgments = read_groups(selection)
    people = System.objects.filter(slug__in=judgments.systems, kind=SystemKind.HUMAN)
    return replace(judgments, texts=_read_texts(selection)) if people.exists() else judgments


def _read_texts(selection: Selection) -> tuple[TextGroup, ...]:
    """Count the judgments of people's texts against other systems, in one query for each side."""
    first, second = FIRST_IS_PEOPLE & ~SECOND_IS_PEOPLE, SECOND_IS_PEOPLE & ~FIRST_IS_PEOPLE
    groups = [*_read_side(selection, first, FIRST, 1), *_read_side(selection, second, SECOND, -1)]
    return tuple(sorted(groups))


def _read_side(
    selection: Selection, is_meant: Q, sides: tuple[str, str], sign: int
) -> Iterator[TextGroup]:
    """Read the judgments in which the texts are on one side; ``sign`` turns verdicts to them."""
    rows = selected(selection).filter(is_meant).values_list(*PLACE, *sides, *ANSWER)
    for dialogue, context, text, opponent, rater, judge, protocol, verdict, n in rows.annotate(
        n=Count("pk")
    ).order_by():
        who = (rater is None, rater or judge)
        yield TextGroup(dialogue, context, text, opponent, *who, protocol, sign * verdict, n)
