"""Single judgments as coded columns, with the style of their texts and who gave them."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db.models import Case, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from annotation.choices import Protocol, Side
from annotation.models import Comparison, DimensionMark, Judge, Judgment, Rater, Study
from annotation.studies.selectors import dimension_keys
from completions.dialogues.normaliser import plain
from completions.models import Completion
from ranking.judgments.analysis_set import Selection, selected
from ranking.judgments.columns import JudgmentColumns
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
from ranking.judgments.method import graded_strengths
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


def read_columns_and_dimensions(
    selection: Selection,
) -> tuple[JudgmentColumns, dict[str, JudgmentColumns]]:
    """Return the selected judgments, and the marks on each dimension as judgments of it alone.

    The advantage is the strength, and neither ahead is a tie. Dimensions go by their keys, in
    the order of the rubric; one that nobody marked is left out. Seven queries in all.
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

    Shape (n_items, 2, n_features), in the order of the items of `read_columns`; two queries. Pairs
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


@dataclass(frozen=True)
class Evaluators:
    """How many people and which LLM judges gave the judgments, and whether any is simulated."""

    n_raters: int
    judges: tuple[str, ...]
    has_simulated: bool


def read_evaluators(selection: Selection) -> Evaluators:
    """Return who gave the selected judgments: one of each is looked for, they are not all read."""
    given = selected(selection)
    raters = Rater.objects.filter(study=selection.study)
    people = _who_judged(raters.values_list("code", "is_simulated"), "rater", given)
    judges = _who_judged(Judge.objects.values_list("name", "is_simulated"), "judge", given)
    return Evaluators(
        n_raters=len(people),
        judges=tuple(sorted(name for name, _ in judges)),
        has_simulated=any(is_simulated for _, is_simulated in people + judges),
    )


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
