"""Judgments one by one as coded columns, ratings of messages alone, and all that a fit rests on."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from django.db.models import Case, Count, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from annotation.choices import Protocol, Side
from annotation.models import Comparison, DimensionMark, Judge, Judgment, Rater, Study
from annotation.studies.queries import dimension_keys
from completions.choices import SystemKind
from completions.dialogues.normaliser import plain
from completions.models import Completion, System
from ranking.judgments.analysis_set import Selection, n_decisions, selected
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.frames.groups import KINDS, read_groups
from ranking.judgments.frames.integers import (
    coded,
    comparisons,
    dialogues,
    flag,
    people_and_judges,
    read_integers,
    room,
    systems,
)
from ranking.judgments.groups import GroupedJudgments, TextGroup
from ranking.judgments.method import graded_strengths
from ranking.judgments.scores import ScoreColumns, implied_groups
from ranking.judgments.style import FEATURES, features
from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.strength import grade_to_strength

CODES = (
    F("pk"),
    F("comparison__context__dialogue"),
    F("comparison"),
    F("comparison__first__system"),
    F("comparison__second__system"),
    Coalesce("rater", 0),
    Coalesce("judge", 0),
    flag(Q(protocol=Protocol.PREFERENCE)),
    F("verdict"),
    flag(Q(first_side=Side.A)),
)


def read_columns_and_dimensions(
    selection: Selection,
) -> tuple[JudgmentColumns, dict[str, JudgmentColumns]]:
    """Return the selected judgments, and the marks on each dimension as judgments of it alone.

    Judgments come in the order in which they were given, with five-point answers translated to
    strengths as the study says. Of marks the advantage is the strength, and neither ahead is a
    tie. Dimensions go by their keys, in the order of the rubric; one that nobody marked is left
    out. Seven queries in all.
    """
    keys, columns = _read(selection)
    names = dimension_keys(selection.study)
    place = np.argsort(keys)
    found = {}
    for index, mark in enumerate(_marks(selection, names)):
        rows = place[np.searchsorted(keys, mark[:, 0], sorter=place)]
        order = np.argsort(rows)
        if len(rows):
            found[names[index]] = columns.taken(rows[order], strength=mark[order, 1])
    return columns, found


def _marks(selection: Selection, names: list[str]) -> list[Integers]:
    """Read the judgment and the advantage of each mark, dimension by dimension."""
    which = Case(*(When(dimension=name, then=Value(n)) for n, name in enumerate(names)))
    marks = DimensionMark.objects.filter(judgment__in=selected(selection), dimension__in=names)
    rows = read_integers(marks.values_list(which, "judgment", "advantage"))
    return [rows[rows[:, 0] == index, 1:] for index in range(len(names))]


def _read(selection: Selection) -> tuple[Integers, JudgmentColumns]:
    """Return the keys of the judgments too."""
    rows = read_integers(selected(selection).order_by("submitted_at", "pk").values_list(*CODES))
    key, unit, item, first, second, rater, judge, is_graded, verdict, is_first = rows.T
    study = selection.study
    units, unit = coded(unit, dialogues(unit))
    _, item = coded(item, comparisons(study))
    slugs, pair = coded(np.stack([first, second]), systems())
    evaluators, evaluator = coded(np.where(judge > 0, -judge, rater), people_and_judges(study))
    columns = JudgmentColumns(
        systems=slugs,
        units=units,
        evaluators=tuple(name for name, _ in evaluators),
        is_judge=np.array([is_judge for _, is_judge in evaluators], dtype=np.bool_),
        unit=unit,
        item=item,
        first=pair[0],
        second=pair[1],
        evaluator=evaluator,
        strength=_strengths(verdict, is_graded == 1, study),
        shown=2 * is_first - 1,
    )
    return key, columns


def _strengths(verdict: Integers, is_graded: Booleans, study: Study) -> Integers:
    strength = verdict.copy()
    slightly, much = graded_strengths(study.content)
    strength[is_graded] = grade_to_strength(verdict[is_graded], slightly=slightly, much=much)
    return strength


BATCH = 2000
UNKNOWN = (np.nan,) * len(FEATURES)


def read_style(selection: Selection) -> Floats:
    """Return figures of both texts of each pair that was judged, by the pairs' public names.

    Shape (n_items, 2, n_features), in the order of the items of the columns; two queries. Pairs
    of equal texts, such as two systems wrote alike, have one name and are one item.
    """
    judged = selected(selection).order_by().values("comparison")
    pairs = Comparison.objects.filter(pk__in=judged).order_by("key")
    by_name = {key: texts for key, *texts in pairs.values_list("key", "first", "second")}
    texts = list(by_name.values())
    measured = _measured({text for pair in texts for text in pair})
    rows = [[measured.get(text, UNKNOWN) for text in pair] for pair in texts]
    return np.array(rows, dtype=np.float64).reshape(-1, 2, len(FEATURES))


def _measured(keys: Collection[int]) -> dict[int, tuple[float, ...]]:
    """Measure these texts; those between them are passed over unread."""
    if not keys:
        return {}
    rows = Completion.objects.filter(pk__range=(min(keys), max(keys))).exclude(text="")
    found = rows.values_list("pk", "text").iterator(chunk_size=BATCH)
    return {pk: features(plain(text)) for pk, text in found if pk in keys}


def read_evaluators(selection: Selection) -> dict[str, Any]:
    """Return who gave the selected judgments, as a fit stores it.

    One judgment of each is looked for, they are not all read.
    """
    given, kinds = selected(selection), KINDS[selection.pool]
    raters = Rater.objects.filter(study=selection.study).values_list("code", "is_simulated")
    people = _who_judged(raters, "rater", given) if False in kinds else []
    named = Judge.objects.values_list("name", "is_simulated")
    judges = _who_judged(named, "judge", given) if True in kinds else []
    return {
        "n_raters": len(people),
        "judges": sorted(name for name, _ in judges),
        "has_simulated_evaluators": any(is_simulated for _, is_simulated in people + judges),
    }


def _who_judged(
    rows: "QuerySet[Any, tuple[Any, ...]]", evaluator: str, given: QuerySet[Judgment]
) -> list[tuple[str, bool]]:
    """Return names and whether they are simulated, of those who gave one of the judgments.

    One of each is asked for, as a column: asked whether there is one, or for those of whom there
    is, the database would rather gather all judgments first.
    """
    one = given.filter(**{evaluator: OuterRef("pk")}).order_by().values("pk")[:1]
    with room():
        found = list(rows.annotate(one=Subquery(one)))
    return [(name, is_simulated) for name, is_simulated, one in found if one is not None]


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


CODES_OF_RATINGS = (
    F("pk"),
    F("comparison__context__dialogue"),
    F("comparison__context"),
    F("comparison__first"),
    F("comparison__first__system"),
    Coalesce("rater", 0),
    Coalesce("judge", 0),
    flag(Q(comparison__context__is_simulated=True)),
)


def read_scores(selection: Selection) -> ScoreColumns:
    """Return the selected ratings one by one, in the order of their keys; five queries."""
    return _read_ratings(selection)[1]


def read_implied(selection: Selection) -> GroupedJudgments:
    """Return the judgments of pairs that the selected ratings imply, added up; nine queries.

    The ratings come as arrays, of which no row becomes an object of Python.
    """
    keys, columns, has_simulated_context = _read_ratings(selection)
    newest, sum_of_keys = int(keys.max(initial=0)), int(keys.sum())
    return replace(
        implied_groups(columns, newest=newest, sum_of_keys=sum_of_keys),
        n_decisions=n_decisions(selection.study),
        has_simulated_context=has_simulated_context,
    )


def _read_ratings(selection: Selection) -> tuple[Integers, ScoreColumns, bool]:
    """Return ratings with the sorted keys of their rows, and if a context is simulated."""
    rows = read_integers(selected(selection).order_by("pk").values_list(*CODES_OF_RATINGS))
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
    return keys, columns, bool(is_simulated.any())


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
