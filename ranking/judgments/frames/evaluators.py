"""Who gave the judgments of a selection."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Judge, Judgment, Rater
from ranking.judgments.analysis_set import Selection, selected
from ranking.judgments.frames.integers import room


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

    The question is a column and no condition: as a condition, the database would rather gather
    all judgments first.
    """
    asked = rows.annotate(has=Exists(given.filter(**{evaluator: OuterRef("pk")})))
    with room():
        return [(name, is_simulated) for name, is_simulated, has in asked if has]
