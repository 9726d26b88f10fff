"""The console's pages on raters, with the form of a decision: list, one rater, review."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from access import background
from access.console.tables import csv_answer
from access.console.undoing import say_done
from access.roles import StaffRequest
from annotation.models import Rater, Study
from annotation.quality.services import excluding
from annotation.studies import queries as study_queries
from annotation.studies.http import figures_of, study_page, with_kept
from annotation.studies.queries import study_file_name
from annotation.studies.stored_figures import StoredFigures
from ranking import downloads
from ranking.raters import queries, services
from ranking.raters.rows import ANSWERS, FINDINGS, KINDS, RATERS, STATUSES

if TYPE_CHECKING:
    from ranking.raters.services import OutsideCompared


LONGEST_REASON = 500


class Decision(forms.Form):
    """Why a person leaves a rater out, or takes one back."""

    reason = forms.CharField(
        max_length=LONGEST_REASON,
        error_messages={
            "required": gettext_lazy("Please say why: the reason is kept with the decision."),
            "max_length": gettext_lazy("Please shorten the reason to 500 characters."),
        },
    )


P = ParamSpec("P")
PER_PAGE = 50
NEWEST_REASONS = 10


@require_safe
@study_page
def raters(request: StaffRequest, study: Study) -> HttpResponse:
    """Show every rater with figures and findings."""
    filters = RATERS.asked(request)
    measured = queries.shown_raters(study, now=timezone.now())
    page = Paginator(filters.listed(measured.rows), PER_PAGE).get_page(request.GET.get("page"))
    parts = {
        "study": study,
        "filters": filters,
        "statuses": STATUSES.items(),
        "kinds": FINDINGS.items(),
        "measured": measured,
        "page": page,
        "n_all": len(measured.rows),
        "n_going": sum(row.would_go for row in measured.rows),
    }
    return render(request, "console/raters/list.html", parts)


@require_safe
@study_page
def raters_csv(request: StaffRequest, study: Study) -> StreamingHttpResponse:
    """Download the same raters, in the same order."""
    rows = queries.shown_raters(study, now=timezone.now()).rows
    chosen = downloads.rater_rows(RATERS.asked(request).listed(rows))
    return csv_answer(request, chosen, study_file_name(study, "raters"))


@require_safe
@study_page
def rater(request: StaffRequest, study: Study, code: str) -> HttpResponse:
    """Show one rater: the figures, what the rules found, and every decision."""
    return _show_rater(request, study, code)


@require_POST
@study_page
def measure(request: StaffRequest, study: Study) -> HttpResponse:
    """Ask a worker to measure the raters anew."""
    background.hand_over("ranking.tasks.measure_raters", study_id=study.pk)
    messages.success(request, _("A worker measures the raters now. Look again soon."))
    return redirect("raters:list", study.slug)


@require_POST
@study_page
def exclude(request: StaffRequest, study: Study, code: str) -> HttpResponse:
    """Leave a rater out of the analysis, with a reason."""
    done = _("Left out of the analysis. Every answer is kept; ratings follow in a moment.")
    act = excluding.exclude_rater
    return _decide(request, study, code, act, done=done, undo="raters:reinstate")


@require_POST
@study_page
def reinstate(request: StaffRequest, study: Study, code: str) -> HttpResponse:
    """Take a rater back, with a reason."""
    done = _("Taken back. The earlier decision is kept; ratings follow in a moment.")
    act = excluding.reinstate_rater
    return _decide(request, study, code, act, done=done, undo="raters:exclude")


@require_http_methods(["GET", "HEAD", "POST"])
@study_page
def review(request: StaffRequest, study: Study) -> HttpResponse:
    """Show who would go and how ranks would move; on a post, let those go."""
    if request.method == "POST":
        return _apply(request, study)
    now = timezone.now()
    measured = queries.shown_raters(study, now=now)
    found = services.review_raters(study=study, dry_run=True, now=now, shown=measured)
    parts = {"study": study, "review": found, "leaving": found.leaving, "measured": measured}
    return render(request, "console/raters/review.html", parts)


@require_safe
@study_page
def moves(request: StaffRequest, study: Study) -> HttpResponse:
    """Show how ranks would move without the raters that the address names; a part of the review."""
    codes = frozenset(request.GET.getlist("rater"))
    parts = {"study": study, "is_part": "HX-Request" in request.headers}
    if services.MOVES.is_small(study):
        named = Rater.objects.filter(study=study, code__in=codes)
        leaving = frozenset(named.values_list("pk", flat=True))
        parts["movements"] = services.movements_without(study, leaving=leaving, now=timezone.now())
        return render(request, "console/raters/moves.html", parts)
    shown = figures_of(study, services.MOVES, now=timezone.now())
    are_those = shown.figures is not None and shown.figures.leaving == codes
    parts |= {
        "shown": shown,
        "movements": shown.figures.movements if shown.figures and are_those else (),
        "is_waiting": not are_those and not shown.is_current,
        "is_other": not are_those and shown.is_current,
    }
    return render(request, "console/raters/moves.html", parts)


@require_safe
@study_page
def outside(request: StaffRequest, study: Study) -> HttpResponse:
    """Show how judgments made elsewhere agree with the study's own, and move its ratings."""

    def page(found: "OutsideCompared", shown: "StoredFigures[OutsideCompared]") -> HttpResponse:
        parts = {"study": study, "found": found, "shown": shown}
        return render(request, "console/raters/outside.html", parts)

    return with_kept(request, study, services.OUTSIDE, page)


def _apply(request: StaffRequest, study: Study) -> HttpResponse:
    """Write the decisions, if they are those that were shown."""
    try:
        done = services.review_raters(
            study=study,
            dry_run=False,
            now=timezone.now(),
            by=request.user,
            expected=request.POST.getlist("rater"),
        )
    except services.ReviewChangedError:
        text = _("Others would go now: answers came in since. Nothing changed; please look again.")
        messages.error(request, text)
        return redirect("raters:review", study.slug)
    n = len({decision.rater_id for decision in done.decisions})
    text = ngettext("%(n)s rater is left out now.", "%(n)s raters are left out now.", n)
    messages.success(request, text % {"n": f"{n:,}"})
    return redirect("raters:list", study.slug)


def _decide(
    request: StaffRequest,
    study: Study,
    code: str,
    service: Callable[..., object],
    *,
    done: str,
    undo: str,
) -> HttpResponse:
    """Ask the service for the decision, or show the page again with what is amiss."""
    form = Decision(request.POST)
    if not form.is_valid():
        return _show_rater(request, study, code, form=form)
    try:
        service(
            rater=_rater_or_404(study, code),
            reason=form.cleaned_data["reason"],
            by=request.user,
            now=timezone.now(),
        )
    except excluding.DecisionError as error:
        messages.error(request, str(error))
    else:
        say_done(request, f"{code}: {done}", undo=reverse(undo, args=[study.slug, code]))
    return redirect("raters:rater", study.slug, code)


def _show_rater(
    request: StaffRequest, study: Study, code: str, *, form: Decision | None = None
) -> HttpResponse:
    measured = queries.shown_raters(study, now=timezone.now())
    row = next((row for row in measured.rows if row.code == code), None)
    if row is None:
        raise Http404
    parts = {
        "study": study,
        "row": row,
        "decisions": row.decisions_told,
        "reasons": queries.newest_reasons(row.rater, n=NEWEST_REASONS),
        "measured": measured,
        "form": form or Decision(),
    }
    return render(request, "console/raters/rater.html", parts, status=422 if form else 200)


def _rater_or_404(study: Study, code: str) -> Rater:
    found = study_queries.rater_by_code(study=study, code=code)
    if found is None:
        raise Http404
    return found


@require_safe
@study_page
def answers(request: StaffRequest, study: Study, code: str) -> HttpResponse:
    """Show what a rater answered: which counts, which was a check, and how that went."""
    filters, rater = ANSWERS.asked(request), _rater_or_404(study, code)
    rows = queries.answers_of(rater, as_of=timezone.now())
    page = Paginator(filters.listed(rows), PER_PAGE).get_page(request.GET.get("page"))
    parts = {
        "study": study,
        "rater": rater,
        "filters": filters,
        "kinds": KINDS.items(),
        "page": page,
        "n_all": len(rows),
    }
    return render(request, "console/raters/answers.html", parts)


@require_safe
@study_page
def answers_csv(request: StaffRequest, study: Study, code: str) -> StreamingHttpResponse:
    """Download the same answers, in the same order."""
    filters, rater = ANSWERS.asked(request), _rater_or_404(study, code)
    rows = queries.answers_of(rater, as_of=timezone.now())
    found = downloads.answer_rows(rater.code, filters.listed(rows))
    return csv_answer(request, found, study_file_name(study, f"{rater.code}-answers"))
