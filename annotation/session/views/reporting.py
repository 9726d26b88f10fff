"""A rater says that a talk upset them, or should not be shown."""

import uuid

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.assignment import slots
from annotation.choices import ReportKind
from annotation.quality import services as quality_services
from annotation.raters.visit import visit_time
from annotation.session import http
from annotation.session.http import RaterRequest, rater_required
from annotation.session.reporting_forms import ReportForm


@require_POST
@rater_required
def report(request: RaterRequest, token: uuid.UUID) -> HttpResponse:
    """Store the report, take the talk off this rater's screen for good, and say so."""
    form = ReportForm(request.POST)
    if not form.is_valid():
        return _say_unclear(request)
    kind = ReportKind(form.cleaned_data["kind"])
    words = quality_services.ReportWords(kind, form.cleaned_data["text"])
    try:
        quality_services.report_context(
            token=token, rater=request.rater, words=words, now=visit_time(request)
        )
    except slots.LeaseNotFoundError:
        return http.say_not_yours(request, heading=_("This pair is not yours to report"))
    context = {
        "study": request.page,
        "heading": _("Thank you for telling us"),
        "is_upset": kind == ReportKind.UPSET,
    }
    return http.render_fragment(request, "annotation/_reported.html", context)


def _say_unclear(request: RaterRequest) -> HttpResponse:
    return http.say(
        request,
        request.page,
        status=422,
        heading=_("We could not read your report"),
        text=_(
            "Nothing was stored, and your pair is still there. Choose one of the two reasons, and"
            " keep your words below 1000 characters."
        ),
        way_on=_back(request),
    )


def _back(request: RaterRequest) -> tuple[str, str]:
    return _("Back to your pairs"), reverse("annotation:judge", args=[request.page.slug])
