"""The console's page of exports, with its form and the downloads behind it."""

from typing import ClassVar

from django import forms
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from access.console.tables import csv_answer
from access.roles import StaffRequest
from annotation.models import Study
from annotation.studies.http import kept_counts, study_page
from annotation.studies.queries import holds_simulated
from ranking.choices import EvaluatorPool
from ranking.exports.data_dictionary import as_json, as_markdown, as_rows
from ranking.exports.options import (
    FORMS,
    SPLITS,
    ExportFormat,
    ExportRefusedError,
    ExportRequest,
    Rule,
)
from ranking.exports.rows import has_texts
from ranking.exports.sources import export_of, offers, tables_of
from ranking.exports.writing import file_name, written
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
        "offers": offers(study, n_judgments=n_judgments),
        "has_texts": has_texts(study),
        "holds_simulated": holds_simulated(study),
        "form": chosen,
        "query": f"?{request.GET.urlencode()}" if chosen.is_valid() else "",
    }
    status = UNPROCESSABLE if chosen.errors else OK
    return render(request, "console/exports/exports.html", parts, status=status)


@require_safe
@study_page
def download(request: StaffRequest, study: Study, name: str, form: str) -> HttpResponseBase:
    """Send one export while it is read."""
    chosen = ExportChoice(request.GET)
    if form not in FORMS or not chosen.is_valid():
        return _refused(chosen.errors.as_text() or f"There is no form {form}.", status=NOT_FOUND)
    export_request = chosen.asked
    export_format = ExportFormat(form)
    try:
        table, rows = export_of(study, name, export_request, now=timezone.now())
        blocks = written(table, rows, export_format, bom=chosen.cleaned_data["bom"])
    except ExportRefusedError as error:
        return _refused(str(error), status=CONFLICT)
    file = file_name(study, name, export_format)
    headers = {"Content-Disposition": f'attachment; filename="{file}"'}
    return StreamingHttpResponse(blocks, content_type=FORMS[export_format], headers=headers)


@require_safe
@study_page
def dictionary(request: StaffRequest, study: Study, form: str) -> HttpResponseBase:
    """Send what every column of every export of the study means."""
    tables = tables_of(study)
    if form == "csv":
        return csv_answer(request, as_rows(tables), DICTIONARY)
    if form == "json":
        answer: JsonResponse = json_answer(as_json(tables), DICTIONARY)
        return answer
    if form != "md":
        return _refused(f"There is no form {form}.", status=NOT_FOUND)
    headers = {"Content-Disposition": f'attachment; filename="{DICTIONARY}.md"'}
    text = as_markdown(tables)
    return HttpResponse(text, content_type="text/markdown; charset=utf-8", headers=headers)


def _refused(reason: str, *, status: int) -> HttpResponse:
    return HttpResponse(f"{reason}\n", content_type="text/plain; charset=utf-8", status=status)


MOST_JUDGMENTS = 1000


class ExportChoice(forms.Form):
    """What is wanted of an export, as it stands in an address; all of it may be left out."""

    blinded = forms.BooleanField(required=False, label=_("Blinded: without the names of systems"))
    rationales = forms.TypedChoiceField(
        label=_("Reasons"),
        required=False,
        choices=[("1", _("With the words of reasons")), ("0", _("Without"))],
        empty_value="1",
    )
    bom = forms.BooleanField(
        required=False, label=_("CSV with a byte order mark, for spreadsheets that ask for one")
    )
    pool = forms.TypedChoiceField(
        label=_("Whose judgments"),
        required=False,
        choices=EvaluatorPool.choices,
        empty_value=EvaluatorPool.HUMAN,
    )
    least_agreement = forms.FloatField(
        label=_("Least agreement, 0 to 1"), required=False, min_value=0, max_value=1
    )
    least_judgments = forms.IntegerField(
        label=_("Least judgments"), required=False, min_value=1, max_value=MOST_JUDGMENTS
    )
    without_ties = forms.BooleanField(required=False, label=_("Leave ties out of the shares"))
    split = forms.ChoiceField(
        label=_("Part, by source dialogue"),
        required=False,
        choices=[("", _("All, with the part named")), *((one, one) for one in SPLITS)],
    )
    USUAL: ClassVar[dict[str, object]] = {
        "rationales": "1",
        "pool": EvaluatorPool.HUMAN,
        "least_agreement": 0.5,
        "least_judgments": 1,
    }

    @property
    def asked(self) -> ExportRequest:
        """Return what a valid form asks for."""
        given = self.cleaned_data
        usual = Rule()
        agreement, judgments = given["least_agreement"], given["least_judgments"]
        rule = Rule(
            pool=given["pool"],
            least_agreement=usual.least_agreement if agreement is None else agreement,
            least_judgments=judgments or usual.least_judgments,
            leaves_ties_out=given["without_ties"],
        )
        return ExportRequest(
            is_blinded=given["blinded"],
            with_rationales=given["rationales"] != "0",
            rule=rule,
            split=given["split"],
        )
