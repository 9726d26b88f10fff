"""Single judgments as columns, coded by whole numbers."""

from dataclasses import replace

import numpy as np
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Coalesce

from annotation.choices import Protocol, Side
from annotation.models import DimensionMark, Study
from annotation.studies.selectors import dimension_keys
from ranking.judgments.analysis_set import Selection, selected
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.frames.coding import (
    coded,
    comparisons,
    dialogues,
    people_and_judges,
    systems,
)
from ranking.judgments.frames.integers import flag, read_integers
from ranking.judgments.frames.style import read_style
from ranking.judgments.method import graded_strengths
from ranking.judgments.style import FEATURES
from ranking.numerics.arrays import Booleans, Integers
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


def read_columns(selection: Selection, *, with_style: bool = False) -> JudgmentColumns:
    """Return the selected judgments one by one, in the order in which they were given.

    Five-point answers are translated to strengths as the study says. Six queries, whatever
    the number of judgments. The style of the texts is two queries more, and takes a second for
    some ten thousand texts: it is left out unless asked for.
    """
    columns = _read(selection)[1]
    if not with_style:
        return columns
    return replace(columns, features=read_style(selection), feature_names=FEATURES)


def read_dimension_columns(selection: Selection) -> dict[str, JudgmentColumns]:
    """Return the marks on each dimension as if they were judgments of it alone.

    The advantage is the strength, and neither ahead is a tie. Dimensions go by their keys, in
    the order of the rubric; one that nobody marked is left out. Seven queries.
    """
    return read_columns_and_dimensions(selection)[1]


def read_columns_and_dimensions(
    selection: Selection,
) -> tuple[JudgmentColumns, dict[str, JudgmentColumns]]:
    """Return the selected judgments, and the marks on each dimension; seven queries in all."""
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
