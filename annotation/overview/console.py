"""The console: how studies stand, one study, moving it on, and a search over all."""

from collections.abc import Callable
from typing import Any, TypeAlias

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from access.console.tables import read_text
from access.console.undoing import say_done
from access.roles import StaffRequest, members_only
from annotation.choices import Platform
from annotation.models import Rater, Study
from annotation.overview import progress, queries
from annotation.planning import services as planning_services
from annotation.planning.queries import PLAN
from annotation.quality import gold, report_queries
from annotation.quality.services.gold import UnsuitableCheckError
from annotation.raters import entry_links, entry_queries
from annotation.studies.counts import COUNTS, StudyTally
from annotation.studies.http import ask_for, figures_of, study_or_404, study_page, with_kept
from annotation.studies.services import states
from annotation.studies.stored_figures import StoredFigures
from completions.contexts.funnel import page_parts
from completions.dialogues.authoring import DatasetTakenError
from completions.models import Completion, Context, Writer
from completions.writers import emails


@require_safe
@members_only()
def overview(request: HttpRequest) -> HttpResponse:
    """Show what waits for somebody, and each study with its counts."""
    now = timezone.now()
    studies, old = queries.tallied_studies(now=now)
    for study in old:
        ask_for(study, COUNTS)
    context = {
        "waiting": report_queries.waiting_studies(),
        "turned_away": entry_queries.turned_away(now=now),
        "needs": progress.needs(studies, now=now),
        "studies": studies,
    }
    return render(request, "console/overview.html", context)


@require_POST
@members_only()
def open_study(request: StaffRequest, study: str) -> HttpResponse:
    """Let raters in, for the first time or again after a pause."""
    done = _("Open: raters can come in now.")
    return _move(request, study, states.open_study, done=done, undo="console:pause")


@require_POST
@members_only()
def pause_study(request: StaffRequest, study: str) -> HttpResponse:
    """Hand out no new pairs for now."""
    done = _("On pause: no new pairs go out.")
    return _move(request, study, states.pause_study, done=done, undo="console:open")


@require_POST
@members_only()
def close_study(request: StaffRequest, study: str) -> HttpResponse:
    """End the study's judging for good."""
    return _move(request, study, states.close_study, done=_("Closed. Every judgment is kept."))


def _move(
    request: StaffRequest, slug: str, change: Callable[..., Study], *, done: str, undo: str = ""
) -> HttpResponse:
    """Ask the service for the change, and say how it went beside the study's title."""
    study = study_or_404(slug)
    try:
        change(study=study, now=timezone.now(), by=request.user)
    except states.StudyStateError as error:
        messages.error(request, f"{study.title}: {error}.")
    else:
        said = f"{study.title}: {done}"
        if undo:
            say_done(request, said, undo=reverse(undo, args=[slug]))
        else:
            messages.success(request, said)
    return redirect("console:study", study.slug)


@require_safe
@study_page
def study_shown(request: StaffRequest, study: Study) -> HttpResponse:
    """Show how the study stands and what can be done to it."""
    parts = {
        **_progress(study),
        "is_intact": queries.is_intact(study),
        "versions": queries.other_versions(study),
        "links": _links(study),
    }
    return render(request, "console/study/study.html", parts)


def _links(study: Study) -> list[tuple[Platform, str]]:
    """Return the platforms whose people are let in, each with the link to give it."""
    entry = emails.absolute(reverse("annotation:entry", args=[study.slug]))
    ends = entry_links.links_for(study.content["crowd"]["platform"])
    return [(Platform(name), entry + end) for name, end in ends.items()]


@require_safe
@members_only(is_part=True)
def live(request: HttpRequest, study: str) -> HttpResponse:
    """Answer with what changes on the overview; once other acts are due, have it load again."""
    found = study_or_404(study)
    if request.GET.get("state") != found.state:
        return HttpResponseClientRefresh()
    return render(request, "console/study/_live.html", _progress(found))


def _progress(study: Study) -> dict[str, Any]:
    """Return how the study stands; the counts of a large one are those that were kept."""
    now = timezone.now()
    found = progress.study_progress(study, figures_of(study, COUNTS, now=now), now=now)
    return {"study": study, "progress": found, "tally": found["counts"]}


@require_safe
@study_page
def contexts(request: StaffRequest, study: Study) -> HttpResponse:
    """Show how the contexts of the study's dataset came about, under the tabs of the study."""
    parts = {"study": study, **page_parts(study.dataset)}
    return render(request, "console/contexts/funnel.html", parts)


@require_safe
@study_page
def plan(request: StaffRequest, study: Study) -> HttpResponse:
    """Show what planning would add and come to; nothing is written."""

    def page(figures: dict[str, object], shown: StoredFigures[dict[str, object]]) -> HttpResponse:
        parts = {"study": study, "plan": figures, "shown": shown, "tally": _tally(study)}
        return render(request, "console/study/plan.html", parts)

    return with_kept(request, study, PLAN, page)


def _tally(study: Study) -> StudyTally:
    """Return the counts of a study that is not open yet, which show what comes next."""
    if not study.is_new:
        return StudyTally()
    shown = figures_of(study, COUNTS, now=timezone.now())
    return shown.figures or StudyTally()


@require_POST
@study_page
def extend(request: StaffRequest, study: Study) -> HttpResponse:
    """Write the plan: comparisons that completions make possible, holds and checks."""
    try:
        done = planning_services.plan_study(study=study, now=timezone.now(), by=request.user)
    except (gold.GoldError, UnsuitableCheckError, DatasetTakenError) as error:
        messages.error(request, _("Nothing was planned: %(why)s.") % {"why": error})
        return redirect("console:study", study.slug)
    text = ngettext(
        "%(n)s comparison added to the plan; it has %(all)s now.",
        "%(n)s comparisons added to the plan; it has %(all)s now.",
        done.summary.n_added,
    ) % {"n": f"{done.summary.n_added:,}", "all": f"{done.summary.n_pairs:,}"}
    messages.success(request, text)
    return redirect("console:study", study.slug)


@require_POST
@study_page
def lock(request: StaffRequest, study: Study) -> HttpResponse:
    """Freeze the study under its hash."""
    try:
        states.lock_study(study=study, now=timezone.now(), by=request.user)
    except states.StudyStateError as error:
        messages.error(request, _("Nothing changed: %(why)s.") % {"why": error})
    else:
        messages.success(request, _("Locked: from now on only its state changes."))
    return redirect("console:study", study.slug)


MOST = 10
"""Of each kind that one page shows."""
LONGEST = 100
SHOWN_WORDS = 24


Found: TypeAlias = tuple[str, str, str]
"""Something that was found: its name, what is beside it, and its page."""


@require_safe
@members_only()
def search(request: HttpRequest) -> HttpResponse:
    """Show what has the words that are asked for, a few of each kind."""
    text = read_text(request.GET, "q")[:LONGEST]
    groups = [(label, found) for label, found in _groups(text) if found] if text else []
    return render(request, "console/search.html", {"asked": text, "groups": groups, "most": MOST})


def _groups(text: str) -> list[tuple[str, list[Found]]]:
    """Return each kind with what was found of it, in one query each."""
    return [
        (_("Studies"), _studies(text)),
        (_("Contexts"), _contexts(text)),
        (_("Raters"), _raters(text)),
        (_("Writers"), _writers(text)),
        (_("Texts"), _texts(text)),
    ]


def _studies(text: str) -> list[Found]:
    rows = Study.objects.filter(Q(title__icontains=text) | Q(slug__icontains=text))
    return [
        (one.title, one.slug, reverse("console:study", args=[one.slug]))
        for one in rows.order_by("-pk")[:MOST]
    ]


def _contexts(text: str) -> list[Found]:
    rows = Context.objects.filter(key__istartswith=text, dataset__is_for_checks=False)
    return [
        (one.key, one.dataset.name, _of_context(one))
        for one in rows.select_related("dataset").order_by("key")[:MOST]
    ]


def _raters(text: str) -> list[Found]:
    rows = Rater.objects.filter(code__istartswith=text).select_related("study")
    return [
        (one.code, one.study.title, reverse("raters:rater", args=[one.study.slug, one.code]))
        for one in rows.order_by("code", "pk")[:MOST]
    ]


def _writers(text: str) -> list[Found]:
    rows = Writer.objects.filter(code__istartswith=text).select_related("dataset")
    return [
        (one.code, one.dataset.name, reverse("writing:writer", args=[one.dataset.slug, one.code]))
        for one in rows.order_by("code", "pk")[:MOST]
    ]


def _texts(text: str) -> list[Found]:
    rows = Completion.objects.filter(text__icontains=text, context__dataset__is_for_checks=False)
    return [
        (
            Truncator(one.text).words(SHOWN_WORDS),
            f"{one.system.name}, {one.context.key}",
            _of_context(one.context),
        )
        for one in rows.select_related("system", "context__dataset").order_by("pk")[:MOST]
    ]


def _of_context(context: Context) -> str:
    return reverse("contexts:context", args=[context.dataset.slug, context.key])
