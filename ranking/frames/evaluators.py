"""Who gave the judgments of a selection."""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from annotation.models import Judge, Rater
from ranking.frames.rule import Selection, selected


@dataclass(frozen=True)
class Evaluators:
    """How many people and which LLM judges gave the judgments, and whether any is simulated."""

    n_raters: int
    judges: tuple[str, ...]
    has_simulated: bool


def read_evaluators(selection: Selection) -> Evaluators:
    """Return who gave the selected judgments: one judgment of each is looked for, not all."""
    raters = Rater.objects.filter(_has_judged("rater", selection), study=selection.study)
    judges = Judge.objects.filter(_has_judged("judge", selection))
    people = list(raters.values_list("is_simulated", flat=True))
    models = list(judges.order_by("name").values_list("name", "is_simulated"))
    return Evaluators(
        n_raters=len(people),
        judges=tuple(name for name, _ in models),
        has_simulated=any(people) or any(is_simulated for _, is_simulated in models),
    )


def _has_judged(evaluator: str, selection: Selection) -> Exists:
    return Exists(selected(selection).filter(**{evaluator: OuterRef("pk")}))
