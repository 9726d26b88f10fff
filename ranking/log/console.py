"""The console's pages on the log, with what their addresses ask for."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django import forms
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from access.console.tables import csv_answer
from access.roles import StaffRequest, members_only
from annotation.models import Study
from ranking.log import queries
from ranking.log.queries import ORDERS, LogFilter
from ranking.raters.http import staff_page


@require_safe
@staff_page
def study_log(request: StaffRequest, study: Study) -> HttpResponse:
    """Show who did what to a study, its raters, runs and releases."""
    return _page(request, study)


@require_safe
@staff_page
def study_log_csv(request: StaffRequest, study: Study) -> HttpResponse | StreamingHttpResponse:
    """Download the entries that are meant."""
    return _csv(request, study, f"{study.slug}-log")


@require_safe
@never_cache
@members_only()
def whole_log(request: StaffRequest) -> HttpResponse:
    """Show who did what, anywhere."""
    return _page(request, None)


@require_safe
@never_cache
@members_only()
def whole_log_csv(request: StaffRequest) -> HttpResponse | StreamingHttpResponse:
    """Download the entries that are meant."""
    return _csv(request, None, "log")


def _page(request: StaffRequest, study: Study | None) -> HttpResponse:
    form = LogQuestion(request.GET)
    parts: dict[str, object] = {"study": study, "form": form}
    is_valid = form.is_valid()
    filters = form.asked() if is_valid else queries.LogFilter()
    page = queries.log_page(study, filters, number=request.GET.get("page", "1"))
    parts |= {"log": page, "page": page.page, "filters": form, "asked": filters}
    parts |= {"nobody": queries.NOBODY}
    return render(request, "console/log/log.html", parts, status=200 if is_valid else 422)


def _csv(
    request: StaffRequest, study: Study | None, name: str
) -> HttpResponse | StreamingHttpResponse:
    form = LogQuestion(request.GET)
    if not form.is_valid():
        return HttpResponse("", status=422, content_type="text/csv; charset=utf-8")
    return csv_answer(request, queries.log_rows(study, form.asked()), name)


SORTS = [*ORDERS, *(f"-{name}" for name in ORDERS)]
HEADS = {"at": _("When (UTC)"), "by": _("Who"), "action": _("What"), "subject": _("On what")}


@dataclass(frozen=True)
class Head:
    """The head of a column: where it leads, and how the table is sorted by it now."""

    label: object
    query: str
    direction: str


class LogQuestion(forms.Form):
    """Which entries of the log, and in which order."""

    action = forms.CharField(required=False, max_length=60)
    by = forms.CharField(required=False, max_length=150)
    subject = forms.CharField(required=False, max_length=120)
    since = forms.DateField(required=False, error_messages={"invalid": _("A date is 2026-01-31.")})
    until = forms.DateField(required=False, error_messages={"invalid": _("A date is 2026-01-31.")})
    sort = forms.ChoiceField(required=False, choices=[(name, name) for name in SORTS])

    def asked(self) -> LogFilter:
        """Return what a valid form asks for."""
        given = {name: value for name, value in self.cleaned_data.items() if value}
        return LogFilter(**given)

    @property
    def query(self) -> str:
        """The address' query that means these entries, without its question mark."""
        return self._query()

    @property
    def heads(self) -> list[Head]:
        """Return the heads of the table."""
        now = self.data.get("sort") or "-at"
        return [
            Head(
                label,
                self._query(sort=f"-{name}" if now == name else name),
                {name: "ascending", f"-{name}": "descending"}.get(now, ""),
            )
            for name, label in HEADS.items()
        ]

    def _query(self, **changed: str) -> str:
        given = {name: str(self.data.get(name, "")) for name in self.fields} | changed
        return urlencode({name: value for name, value in given.items() if value})
