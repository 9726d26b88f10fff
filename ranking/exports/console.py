"""The console's page of exports, and the downloads behind it."""

from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from access.console.tables import csv_answer
from access.roles import StaffRequest
from annotation.models import Study
from annotation.studies.http import kept_counts, study_page
from ranking.exports import data_dictionary, rows
from ranking.exports.forms import ExportChoice
from ranking.results.http import json_answer

OK, NOT_FOUND, CONFLICT, UNPROCESSABLE = 200, 404, 409, 422
DICTIONARY = "heart-data-dictionary"


@require_safe
@study_page
def page(request: StaffRequest, study: Study) -> HttpResponse:
    """Show what there is to take, how much of it, and in which forms."""
    chosen = ExportChoice(request.GET or None, initial=ExportChoice.USUAL)
    counts = kept_counts(study, now=timezone.now())
    n_judgments = None if counts is None else counts.n_judgments
    parts = {
        "study": study,
        "offered": rows.offered(study, n_judgments=n_judgments),
        "form": chosen,
        "query": f"?{request.GET.urlencode()}" if chosen.is_valid() else "",
    }
    status = UNPROCESSABLE if chosen.errors else OK
    return render(request, "console/exports/exports.html", parts, status=status)


@require_safe
@study_page
def download(request: StaffRequest, study: Study, name: str, form: str) -> HttpResponseBase:
    """Send one export while it is read."""
    return _sent(request, study, name, form)


@require_safe
@study_page
def judgments_csv(request: StaffRequest, study: Study) -> HttpResponseBase:
    """Send the judgments as CSV from the address where they always were."""
    return _sent(request, study, "judgments", "csv")


def _sent(request: StaffRequest, study: Study, name: str, form: str) -> HttpResponseBase:
    chosen = ExportChoice(request.GET)
    if form not in rows.FORMS or not chosen.is_valid():
        return _refused(chosen.errors.as_text() or f"There is no form {form}.", status=NOT_FOUND)
    asked = chosen.asked
    wanted = rows.Form(form)
    try:
        found = rows.export_of(study, name, asked, now=timezone.now())
        blocks = rows.written(found, wanted, bom=chosen.cleaned_data["bom"])
    except rows.ExportRefusedError as error:
        return _refused(str(error), status=CONFLICT)
    file = rows.file_name(study, name, wanted)
    headers = {"Content-Disposition": f'attachment; filename="{file}"'}
    return StreamingHttpResponse(blocks, content_type=rows.FORMS[wanted], headers=headers)


@require_safe
@study_page
def dictionary(request: StaffRequest, study: Study, form: str) -> HttpResponseBase:
    """Send what every column of every export of the study means."""
    tables = rows.tables_of(study)
    if form == "csv":
        return csv_answer(request, data_dictionary.as_rows(tables), DICTIONARY)
    if form == "json":
        answer: JsonResponse = json_answer(data_dictionary.as_json(tables), DICTIONARY)
        return answer
    if form != "md":
        return _refused(f"There is no form {form}.", status=NOT_FOUND)
    headers = {"Content-Disposition": f'attachment; filename="{DICTIONARY}.md"'}
    text = data_dictionary.as_markdown(tables)
    return HttpResponse(text, content_type="text/markdown; charset=utf-8", headers=headers)


def _refused(reason: str, *, status: int) -> HttpResponse:
    return HttpResponse(f"{reason}\n", content_type="text/plain; charset=utf-8", status=status)
