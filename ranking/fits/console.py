"""The console's page on a study's ratings as computations, and "refit now"."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from access import background
from access.choices import Role
from access.console.undoing import say_done
from access.roles import StaffRequest, may
from annotation.models import Study
from annotation.studies.http import owners_study_page, study_page
from ranking.fits import analysis_queries, queries
from ranking.fits.services import publishing
from ranking.judgments.method import code_version
from ranking.models import Fit


@require_safe
@study_page
def fits(request: StaffRequest, study: Study) -> HttpResponse:
    """Show which ratings are computed, how old they are, and how their analyses ended."""
    newest = queries.newest_of(study)
    parts = {
        "study": study,
        "newest_fits": newest,
        "rests_on_simulated": any(fit.is_simulated for fit in newest),
        "analysed": analysis_queries.analysed_last(study),
        "recent_fits": queries.fits_of(study),
        "n_fits": study.fits.count(),
        "n_under_way": queries.n_under_way(study, now=timezone.now()),
        "code_version": code_version(),
        "may_publish": may(request, Role.OWNER),
    }
    return render(request, "console/fits/fits.html", parts)


@require_POST
@study_page
def refit(request: StaffRequest, study: Study) -> HttpResponse:
    """Ask a worker for the ratings of the present judgments, unless one is at it."""
    n = queries.n_under_way(study, now=timezone.now())
    if n:
        text = ngettext(
            "%(n)s computation is under way already: nothing is begun twice.",
            "%(n)s computations are under way already: nothing is begun twice.",
            n,
        ) % {"n": f"{n:,}"}
        messages.info(request, text)
    else:
        background.hand_over("ranking.tasks.refit_now", study_id=study.pk)
        messages.success(request, _("A worker computes now whatever changed. Look again soon."))
    return redirect("raters:fits", study.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@owners_study_page
def publish(request: StaffRequest, study: Study, key: str) -> HttpResponse:
    """Say what it means to publish a fit; when that is confirmed, publish it."""
    fit = _fit_or_404(study, key)
    if request.method != "POST":
        parts = {"study": study, "fit": fit, "n_before": queries.n_published(fit)}
        return render(request, "console/fits/publish.html", parts)
    publishing.publish_fit(fit=fit, now=timezone.now(), by=request.user)
    said = _("%(fit)s is published. It stays as it is.") % {"fit": fit.key}
    say_done(request, said, undo=reverse("raters:unpublish_fit", args=[study.slug, key]))
    return redirect("raters:fits", study.slug)


@require_POST
@owners_study_page
def unpublish(request: StaffRequest, study: Study, key: str) -> HttpResponse:
    """Keep a published fit to the team again."""
    fit = _fit_or_404(study, key)
    publishing.unpublish_fit(fit=fit, now=timezone.now(), by=request.user)
    said = _("%(fit)s is the team's alone again.") % {"fit": fit.key}
    say_done(request, said, undo=reverse("raters:publish_fit", args=[study.slug, key]))
    return redirect("raters:fits", study.slug)


def _fit_or_404(study: Study, key: str) -> Fit:
    fit = queries.fit_by_key(study=study, key=key)
    if fit is None:
        raise Http404
    return fit
