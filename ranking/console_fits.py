"""The console's page on a study's ratings as computations, and "refit now"."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from access.http import StaffRequest
from annotation.console_http import study_page
from annotation.models import Study
from ranking import fit_selectors, tasks


@require_safe
@study_page
def fits(request: StaffRequest, study: Study) -> HttpResponse:
    """Show which ratings are computed, how old they are, and how their analyses ended."""
    page = fit_selectors.fits_page(study, now=timezone.now())
    return render(request, "console/fits/fits.html", {"study": study, "page": page})


@require_POST
@study_page
def refit(request: StaffRequest, study: Study) -> HttpResponse:
    """Ask a worker for the ratings of the present judgments, unless one is at it."""
    n = fit_selectors.n_under_way(study, now=timezone.now())
    if n:
        text = ngettext(
            "%(n)d computation is under way already: nothing is begun twice.",
            "%(n)d computations are under way already: nothing is begun twice.",
            n,
        ) % {"n": n}
        messages.info(request, text)
    else:
        tasks.refit_now.delay(study_id=study.pk)
        messages.success(request, _("A worker computes now whatever changed. Look again soon."))
    return redirect("raters:fits", study.slug)
