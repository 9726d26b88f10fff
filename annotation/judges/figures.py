"""When the figures of a study's judges are kept, and what they rest on."""

from typing import Any

from django.db.models import Max

from annotation.judges import verdict_queries
from annotation.models import Exclusion, JudgeCall, Judgment, Study
from annotation.studies.kept import Kind

MOST_LIVE = 2_000
"""Calls of which a page counts the answers itself."""


def _is_small(study: Study) -> bool:
    calls = JudgeCall.objects.filter(comparison__study=study)
    return calls[: MOST_LIVE + 1].count() <= MOST_LIVE


def _basis(_study: Study) -> object:
    """Return what changes with every call that is planned or ends, and with every decision.

    Counting those of the one study would take long; others make the figures old now and then.
    """
    newest = [_newest(model) for model in (JudgeCall, Judgment, Exclusion)]
    return newest, JudgeCall.objects.filter(ended_at__isnull=True).count()


def _newest(model: Any) -> int | None:  # noqa: ANN401 (any table)
    found: int | None = model.objects.aggregate(newest=Max("pk"))["newest"]
    return found


JUDGES = Kind(
    "judges", _is_small, _basis, lambda study, _now: verdict_queries.judges_figures(study)
)
