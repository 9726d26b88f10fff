"""Who asks for a study's page of the console, and the study of an address."""

import datetime as dt
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django_htmx.http import HttpResponseClientRefresh

from access import background
from access.choices import Role
from access.roles import Needs, StaffRequest, members_only
from annotation.models import Study
from annotation.studies import queries as study_queries
from annotation.studies import stored_figures
from annotation.studies.counts import COUNTS, StudyCounts
from annotation.studies.stored_figures import Figures, FiguresKind, StoredFigures

P = ParamSpec("P")
NO_CONTENT = 204


def study_page(
    view: Callable[Concatenate[StaffRequest, Study, P], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Let staff in, find the study of the address, and keep the page out of every cache."""
    return members_only()(_of_study(view))


def owners_study_page(
    view: Callable[Concatenate[StaffRequest, Study, P], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Let owners in alone, find the study of the address, and keep the page out of every cache."""
    return members_only(Needs(Role.OWNER, Role.OWNER))(_of_study(view))


def _of_study(
    view: Callable[Concatenate[StaffRequest, Study, P], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    @wraps(view)
    def wrapper(
        request: StaffRequest, /, study: str, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponseBase:
        return view(request, study_or_404(study), *args, **kwargs)

    return wrapper


def managers_page(
    view: Callable[Concatenate[StaffRequest, P], HttpResponse],
) -> Callable[..., HttpResponseBase]:
    """Let managers in, also to look, and keep the page out of every cache."""
    return members_only(Needs(reads=Role.MANAGER))(view)


def figures_of(
    study: Study, kind: FiguresKind[Figures], *, now: dt.datetime
) -> StoredFigures[Figures]:
    """Return figures that may be kept; have a worker make newer ones if they are not current."""
    shown = stored_figures.shown(kind, study, now=now)
    if not shown.is_current:
        ask_for(study, kind)
    return shown


def ask_for(study: Study, kind: FiguresKind[Any]) -> None:
    """Ask a worker for newer figures, unless somebody did within seconds."""
    if stored_figures.is_to_ask(kind, study):
        background.hand_over("annotation.tasks.keep_figures", kind=kind.name, study_id=study.pk)


def kept_counts(study: Study, *, now: dt.datetime) -> StudyCounts | None:
    """Return the counts of a large study as they were kept; None of another, and while none are."""
    if COUNTS.is_small(study):
        return None
    shown = stored_figures.read(COUNTS, study, basis=COUNTS.basis(study), now=now)
    if not shown.is_current:
        ask_for(study, COUNTS)
    return shown.figures


def with_kept(
    request: HttpRequest,
    study: Study,
    kind: FiguresKind[Figures],
    page: Callable[[Figures, StoredFigures[Figures]], HttpResponse],
) -> HttpResponse:
    """Show a page of figures that may be kept; while there are none, one that waits for them.

    If they are not current, a worker is asked for newer ones. The page that waits asks whether
    they are there, and loads anew once they are.
    """
    shown = figures_of(study, kind, now=timezone.now())
    if "HX-Request" in request.headers:
        is_there = shown.figures is not None
        return HttpResponseClientRefresh() if is_there else HttpResponse(status=NO_CONTENT)
    if shown.figures is None:
        parts = {"study": study, "here": kind.name}
        return render(request, "console/study/waiting.html", parts)
    return page(shown.figures, shown)


def study_or_404(slug: str) -> Study:
    """Return the study of the address.

    Raises
    ------
    Http404
        If there is no such study.
    """
    study = study_queries.study_by_slug(slug)
    if study is None:
        raise Http404
    return study
