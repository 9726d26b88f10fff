"""All that a fit rests on: judgments added up, those of people's texts, ratings read alone."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from django.db.models import Case, Count, F, Q, Value, When
from django.db.models.functions import Coalesce

from annotation.choices import Protocol
from annotation.models import DimensionMark, Study
from completions.choices import SystemKind
from completions.models import System
from ranking.judgments.analysis_set import Selection, n_decisions, selected
from ranking.judgments.frames.groups import read_groups
from ranking.judgments.frames.integers import (
    coded,
    dialogues,
    flag,
    people_and_judges,
    read_integers,
    systems,
)
from ranking.judgments.groups import GroupedJudgments, TextGroup
from ranking.judgments.scores import ScoreColumns, implied_groups
from ranking.numerics.arrays import Integers

FIRST_IS_PEOPLE = Q(comparison__first__system__kind=SystemKind.HUMAN)
SECOND_IS_PEOPLE = Q(comparison__second__system__kind=SystemKind.HUMAN)
FIRST = ("comparison__first", "comparison__second__system__slug")
SECOND = ("comparison__second", "comparison__first__system__slug")
PLACE = ("comparison__context__dialogue__content_hash", "comparison__context")
ANSWER = ("rater__code", "judge__slug", "protocol", "verdict")


def read_judgments(selection: Selection, *, is_anew: bool = False) -> GroupedJudgments:
    """Read all that a fit rests on: single texts of people too, if there are any.

    Of a likert study that is what its ratings imply, without single texts. With ``is_anew`` the
    judgments themselves are counted, whatever is kept.
    """
    if selection.study.protocol == Protocol.LIKERT:
        return read_implied(selection)
    judgments = read_groups(selection, is_anew=is_anew)
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


CODES = (
    F("pk"),
    F("comparison__context__dialogue"),
    F("comparison__context"),
    F("comparison__first"),
    F("comparison__first__system"),
    Coalesce("rater", 0),
    Coalesce("judge", 0),
    flag(Q(comparison__context__is_simulated=True)),
)


@dataclass(frozen=True)
class _ReadRatings:
    """Ratings with the keys of their rows, sorted by these."""

    keys: Integers
    columns: ScoreColumns
    has_simulated_context: bool


def read_scores(selection: Selection) -> ScoreColumns:
    """Return the selected ratings one by one, in the order of their keys; five queries."""
    return _read(selection).columns


def read_implied(selection: Selection) -> GroupedJudgments:
    """Return the judgments of pairs that the selected ratings imply, added up; nine queries.

    The ratings come as arrays, of which no row becomes an object of Python.
    """
    found = _read(selection)
    newest, sum_of_keys = int(found.keys.max(initial=0)), int(found.keys.sum())
    return replace(
        implied_groups(found.columns, newest=newest, sum_of_keys=sum_of_keys),
        n_decisions=n_decisions(selection.study),
        has_simulated_context=found.has_simulated_context,
    )


def _read(selection: Selection) -> _ReadRatings:
    rows = read_integers(selected(selection).order_by("pk").values_list(*CODES))
    keys, unit, context, message, system, rater, judge, is_simulated = rows.T
    study = selection.study
    units, unit = coded(unit, dialogues(unit))
    slugs, system = coded(system, systems())
    evaluators, evaluator = coded(np.where(judge > 0, -judge, rater), people_and_judges(study))
    rubric = study.content["rubric"]["dimensions"]
    columns = ScoreColumns(
        systems=slugs,
        units=units,
        evaluators=tuple(name for name, _ in evaluators),
        dimensions=tuple(one["key"] for one in rubric),
        labels=tuple(one["name"] for one in rubric),
        is_judge=np.array([is_judge for _, is_judge in evaluators], dtype=np.bool_),
        unit=unit,
        context=_numbered(context),
        message=_numbered(message),
        system=system,
        evaluator=evaluator,
        points=_points(selection, keys, study),
    )
    return _ReadRatings(keys, columns, bool(is_simulated.any()))


def _points(selection: Selection, keys: Integers, study: Study) -> Integers:
    """Return the points of each judgment on each dimension, 0 where there are none."""
    names = [one["key"] for one in study.content["rubric"]["dimensions"]]
    points = np.zeros((len(keys), len(names)), dtype=np.int64)
    if not names:
        return points
    which = Case(*(When(dimension=name, then=Value(n)) for n, name in enumerate(names)))
    marks = DimensionMark.objects.filter(judgment__in=selected(selection), dimension__in=names)
    dimension, judgment, given = read_integers(
        marks.values_list(which, "judgment", "advantage").order_by()
    ).T
    points[np.searchsorted(keys, judgment), dimension] = given
    return points


def _numbered(keys: Integers) -> Integers:
    """Return places from 0 in the order of the keys."""
    numbered: Integers = np.unique(keys, return_inverse=True)[1].astype(np.int64).reshape(-1)
    return numbered
