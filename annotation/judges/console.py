"""The console's pages on the LLM judges of a study, and the figures stored for them."""

from typing import Any

from django.db.models import Max
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from access.roles import StaffRequest
from annotation.judges import verdict_queries
from annotation.judges.verdict_queries import JudgesFigures
from annotation.models import Exclusion, JudgeCall, Judgment, Study
from annotation.studies.http import study_page, with_kept
from annotation.studies.stored_figures import FiguresKind, StoredFigures


@require_safe
@study_page
def judges(request: StaffRequest, study: Study) -> HttpResponse:
    """Show what became of every call, how steady each judge is, and where they do not agree."""
    show = request.GET.get("show", "")
    if show not in verdict_queries.SHOWS:
        raise Http404

    def page(figures: JudgesFigures, shown: StoredFigures[JudgesFigures]) -> HttpResponse:
        number = request.GET.get("page", "1")
        found = verdict_queries.judges_page(study, show=show, page=number, figures=figures)
        parts = {"study": study, "page": found, "show": show, "shown": shown}
        return render(request, "console/study/judges.html", parts)

    return with_kept(request, study, JUDGES, page)


@require_safe
@study_page
def judged(request: StaffRequest, study: Study, key: str) -> HttpResponse:
    """Show the calls that put one comparison to the judges."""
    pair = verdict_queries.judged_pair(study, key)
    if pair is None:
        raise Http404
    return render(request, "console/study/judged.html", {"study": study, "pair": pair})


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


JUDGES = FiguresKind(
    "judges", _is_small, _basis, lambda study, _now: verdict_queries.judges_figures(study)
)
