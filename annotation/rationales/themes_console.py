"""The console's pages on which people check the themes that a model found in reasons."""

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from access.roles import StaffRequest
from annotation.models import Study, ThemeCheckItem
from annotation.rationales import checks
from annotation.rationales.services import labelling
from annotation.studies.http import study_page
from completions.models import Assistant
from completions.strategies import spot_check_queries
from completions.strategies.console import SampleForm
from completions.strategies.desk import SampleDesk, SpotCheckRow
from completions.strategies.services.spot_checking import NotLabelledYetError


@require_safe
@study_page
def overview(request: StaffRequest, study: Study) -> HttpResponse:
    """Show every sample, with what people and the model agree on."""
    return _overview(request, study)


@require_POST
@study_page
def draw(request: StaffRequest, study: Study) -> HttpResponse:
    """Draw the reasons that two people label."""
    form = SampleForm(_asked(study), request.POST)
    if not form.is_valid():
        return _overview(request, study, form)
    try:
        labelling.draw_theme_sample(
            study=study, by=request.user, now=timezone.now(), **form.cleaned_data
        )
    except NotLabelledYetError as error:
        form.add_error(None, _("Nothing was drawn: %(why)s") % {"why": error})
        return _overview(request, study, form)
    messages.success(request, _("The sample is drawn. Two people can label it now."))
    return redirect("console:theme_overview", study.slug)


@require_safe
@study_page
def label(request: StaffRequest, study: Study, check: int, number: int) -> HttpResponse:
    """Show one reason to label, with what this person found before."""
    return _desk(study).show_to_label(request, _item(study, check, number))


@require_POST
@study_page
def store_labels(request: StaffRequest, study: Study, check: int, number: int) -> HttpResponse:
    """Store what was found, and go on to the next reason that this person has not labelled."""
    return _desk(study).store_labels(request, _item(study, check, number))


@require_safe
@study_page
def settle(request: StaffRequest, study: Study, check: int, number: int) -> HttpResponse:
    """Show one reason on which the two people differ."""
    return _desk(study).show_to_settle(request, _item(study, check, number))


@require_POST
@study_page
def store_settled(request: StaffRequest, study: Study, check: int, number: int) -> HttpResponse:
    """Store what holds, and go on to the next reason on which the two differ."""
    return _desk(study).store_settled(request, _item(study, check, number))


def _overview(request: StaffRequest, study: Study, form: SampleForm | None = None) -> HttpResponse:
    desk, asked = _desk(study), _asked(study)
    parts = {
        "study": study,
        "checks": [SpotCheckRow.of(one, request.user, desk) for one in checks.theme_checks(study)],
        "is_asked": asked.exists(),
        "sample": form or SampleForm(asked),
    }
    status = 422 if form else 200
    return render(request, "console/study/themes.html", parts, status=status)


def _asked(study: Study) -> QuerySet[Assistant]:
    return Assistant.objects.filter(rationale_calls__judgment__comparison__study=study)


def _desk(study: Study) -> SampleDesk:
    parts = {"study": study, "here": "themes", "below": True}
    return SampleDesk(study, "console:theme_", "console/study/_tabs.html", parts)


def _item(study: Study, check: int, number: int) -> ThemeCheckItem:
    found = study.theme_checks.filter(pk=check).select_related("assistant").first()
    item = None if found is None else spot_check_queries.item_at(found, number - 1)
    if not isinstance(item, ThemeCheckItem):
        raise Http404
    return item
