"""The console: how studies stand, one study with its plan and numbers, and moving it on."""

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from access.console.undoing import say_done
from access.roles import StaffRequest, members_only
from annotation.choices import Platform
from annotation.models import Study
from annotation.overview import attention, queries
from annotation.overview import progress as overview_progress
from annotation.overview.progress import StudyProgress
from annotation.overview.queries import StudyRow
from annotation.planning import services as planning_services
from annotation.planning.figures import PLAN, PlanFigures
from annotation.quality import gold, report_queries
from annotation.quality.services.gold import UnsuitableCheckError
from annotation.raters import entry_links, entry_queries
from annotation.studies import selectors, services
from annotation.studies import services as study_services
from annotation.studies.counts import COUNTS, StudyTally
from annotation.studies.http import ask_for, figures_of, study_or_404, study_page, with_kept
from annotation.studies.stored_figures import StoredFigures
from completions.contexts.funnel import funnel_of, rewrites_of
from completions.contexts.funnel.picture import Picture
from completions.dialogues.authoring import DatasetTakenError
from completions.writers import emails


@require_safe
@never_cache
@members_only()
def overview(request: HttpRequest) -> HttpResponse:
    """Show what waits for somebody, and each study with its counts."""
    now = timezone.now()
    studies, old = queries.study_rows(now=now)
    for study in old:
        ask_for(study, COUNTS)
    context = {
        "waiting": report_queries.waiting_studies(),
        "turned_away": entry_queries.turned_away(now=now),
        "needs": attention.needs(studies, now=now),
        "studies": studies,
    }
    return render(request, "console/overview.html", context)


@require_POST
@members_only()
def open_study(request: StaffRequest, study: str) -> HttpResponse:
    """Let raters in, for the first time or again after a pause."""
    done = _("Open: raters can come in now.")
    return _move(request, study, services.open_study, done=done, undo="console:pause")


@require_POST
@members_only()
def pause_study(request: StaffRequest, study: str) -> HttpResponse:
    """Hand out no new pairs for now."""
    done = _("On pause: no new pairs go out.")
    return _move(request, study, services.pause_study, done=done, undo="console:open")


@require_POST
@members_only()
def close_study(request: StaffRequest, study: str) -> HttpResponse:
    """End the study's judging for good."""
    return _move(request, study, services.close_study, done=_("Closed. Every judgment is kept."))


def _move(
    request: StaffRequest, slug: str, change: Callable[..., Study], *, done: str, undo: str = ""
) -> HttpResponse:
    """Ask the service for the change, and say how it went beside the study's title."""
    study = _study_or_404(slug)
    try:
        change(study=study, now=timezone.now(), by=request.user)
    except services.StudyStateError as error:
        messages.error(request, f"{study.title}: {error}.")
    else:
        said = f"{study.title}: {done}"
        if undo:
            say_done(request, said, undo=reverse(undo, args=[slug]))
        else:
            messages.success(request, said)
    return redirect("console:study", study.slug)


def _study_or_404(slug: str) -> Study:
    study = selectors.study_by_slug(slug)
    if study is None:
        raise Http404
    return study


@require_safe
@study_page
def study_shown(request: StaffRequest, study: Study) -> HttpResponse:
    """Show how the study stands and what can be done to it."""
    progress = _progress(study)
    page = queries.study_page(study, row=progress.row)
    parts = {"study": page.row, "page": page, "progress": progress, "links": _links(page.row)}
    return render(request, "console/study/study.html", parts)


def _links(row: StudyRow) -> list[tuple[Platform, str]]:
    """Return the platforms whose people are let in, each with the link to give it."""
    entry = emails.absolute(reverse("annotation:entry", args=[row.slug]))
    return [
        (Platform(name), entry + end) for name, end in entry_links.links_for(row.platform).items()
    ]


@require_safe
@never_cache
@members_only(is_part=True)
def live(request: HttpRequest, study: str) -> HttpResponse:
    """Answer with what changes on the overview; once other acts are due, have it load again."""
    found = study_or_404(study)
    if request.GET.get("state") != found.state:
        return HttpResponseClientRefresh()
    progress = _progress(found)
    parts = {"study": progress.row, "progress": progress}
    return render(request, "console/study/_live.html", parts)


def _progress(study: Study) -> StudyProgress:
    """Return how the study stands; the counts of a large one are those that were kept."""
    now = timezone.now()
    return overview_progress.study_progress(study, figures_of(study, COUNTS, now=now), now=now)


@require_safe
@study_page
def contexts(request: StaffRequest, study: Study) -> HttpResponse:
    """Show how the contexts of the study's dataset came about, under the tabs of the study."""
    counted = funnel_of(study.dataset)
    parts = {
        "study": study,
        "dataset": study.dataset,
        "funnel": counted,
        "picture": Picture.of(counted),
        "rewrites": rewrites_of(study.dataset),
    }
    return render(request, "console/contexts/funnel.html", parts)


@require_safe
@study_page
def plan(request: StaffRequest, study: Study) -> HttpResponse:
    """Show what planning would add and come to; nothing is written."""

    def page(figures: PlanFigures, shown: StoredFigures[PlanFigures]) -> HttpResponse:
        row = StudyRow.of(study, StudyTally())  # its title and state; the counts are elsewhere
        parts = {"study": row, "plan": figures, "work": figures.work, "shown": shown}
        return render(request, "console/study/plan.html", parts)

    return with_kept(request, study, PLAN, page)


@require_POST
@study_page
def extend(request: StaffRequest, study: Study) -> HttpResponse:
    """Write the plan: comparisons that completions make possible, holds and checks."""
    try:
        report = planning_services.plan_study(study=study, now=timezone.now(), by=request.user)
    except (gold.GoldError, UnsuitableCheckError, DatasetTakenError) as error:
        messages.error(request, _("Nothing was planned: %(why)s.") % {"why": error})
        return redirect("console:study", study.slug)
    text = ngettext(
        "%(n)s comparison added to the plan; it has %(all)s now.",
        "%(n)s comparisons added to the plan; it has %(all)s now.",
        report.n_added,
    ) % {"n": f"{report.n_added:,}", "all": f"{report.n_comparisons:,}"}
    messages.success(request, text)
    return redirect("console:study", study.slug)


@require_POST
@study_page
def lock(request: StaffRequest, study: Study) -> HttpResponse:
    """Freeze the study under its hash."""
    try:
        study_services.lock_study(study=study, now=timezone.now(), by=request.user)
    except study_services.StudyStateError as error:
        messages.error(request, f"{error}.")
    else:
        messages.success(request, _("Locked: from now on only its state changes."))
    return redirect("console:study", study.slug)
