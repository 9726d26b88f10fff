"""The console's page of one study: its hash, its plan, its numbers; and what planning would do."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from access.roles import StaffRequest, members_only
from annotation.choices import Platform
from annotation.models import Study
from annotation.overview import progress as overview_progress
from annotation.overview import queries
from annotation.overview.progress import StudyProgress
from annotation.overview.queries import StudyRow
from annotation.planning import services as planning_services
from annotation.planning.figures import PLAN, PlanFigures
from annotation.quality import gold
from annotation.quality import services as quality_services
from annotation.raters import entry_links
from annotation.studies import services as study_services
from annotation.studies.counts import COUNTS, StudyTally
from annotation.studies.http import figures_of, study_or_404, study_page, with_kept
from annotation.studies.stored_figures import StoredFigures
from completions.contexts.funnel import funnel_of, rewrite_rows
from completions.contexts.funnel.picture import Picture
from completions.dialogues.authoring import DatasetTakenError
from completions.writers import emails


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
        "rewrites": rewrite_rows(study.dataset),
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
    except (gold.GoldError, quality_services.UnsuitableCheckError, DatasetTakenError) as error:
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
