"""The console's page on which completions are brought in that models gave elsewhere."""

import io
from dataclasses import replace

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from access.console.csv_cells import csv_lines
from access.roles import StaffRequest, members_only
from completions.choices import Way
from completions.dialogues import forms
from completions.dialogues.forms import Checked
from completions.files import InputFileError, OutcomeChangedError
from completions.systems import services
from completions.systems.importing import ImportedFile, imported_file

LISTED = 100
"""Refusals that the page shows; the table has them all."""


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@members_only()
def import_file(request: StaffRequest) -> HttpResponse:
    """Take a file, and show what would become of each row; nothing is stored yet."""
    if request.method != "POST":
        return _page(request, forms.CompletionUpload())
    form = forms.CompletionUpload(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, form, status=422)
    sent = form.cleaned_data["file"]
    try:
        return _preview(request, Checked(sent.text))
    except InputFileError as error:
        form.add_error("file", f"{sent.name}: {error}.")
    except forms.TooLargeError:
        form.add_error("file", form.too_large())
    return _page(request, form, status=422)


@require_POST
@never_cache
@members_only()
def store(request: StaffRequest) -> HttpResponse:
    """Store exactly what was shown, or show again what changed since."""
    if (checked := _unsealed(request)) is None:
        return redirect("models:import")
    try:
        report = services.import_completions(
            rows=_file(checked),
            way=Way.CONSOLE,
            by=request.user,
            now=timezone.now(),
            as_shown=checked.digest,
        )
    except (OutcomeChangedError, services.RowsRefusedError):
        messages.error(request, _("Something changed meanwhile. Nothing was stored: look again."))
        return _preview(request, checked, status=409)
    messages.success(request, _said(report))
    return redirect("models:systems")


@require_POST
@never_cache
@members_only()
def refused(request: StaffRequest) -> HttpResponse:
    """Send the refusals as a table."""
    if (checked := _unsealed(request)) is None:
        return redirect("models:import")
    report = _tried(request, checked)[1]
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="completions-refused.csv"'
    answer.writelines(csv_lines(report.rows()))
    return answer


def _preview(request: StaffRequest, checked: Checked, *, status: int = 200) -> HttpResponse:
    file, report = _tried(request, checked)
    shown = replace(checked, digest=report.digest)
    parts = {
        "report": report,
        "listed": report.refused[:LISTED],
        "n_unlisted": max(0, len(report.refused) - LISTED),
        "notes": file.notes,
        "sealed": shown.seal(_holder(request)),
    }
    return _page(request, forms.CompletionUpload(), status=status, **parts)


def _page(
    request: StaffRequest, form: forms.CompletionUpload, *, status: int = 200, **report: object
) -> HttpResponse:
    parts = {"form": form, "most_rows": forms.MOST_ROWS, **report}
    return render(request, "console/models/import.html", parts, status=status)


def _tried(request: StaffRequest, checked: Checked) -> "tuple[ImportedFile, services.IntakeReport]":
    """Return the file as it was gone through, and what would become of its rows."""
    file = _file(checked)
    report = services.try_completions(
        rows=file, way=Way.CONSOLE, by=request.user, now=timezone.now()
    )
    return file, report


def _file(checked: Checked) -> ImportedFile:
    return imported_file(io.BytesIO(checked.content), most_rows=forms.MOST_ROWS)


def _unsealed(request: StaffRequest) -> Checked | None:
    """Return what the page carried, or say that it is not to be trusted any more."""
    try:
        return Checked.unseal(request.POST.get("sealed", ""), _holder(request))
    except forms.SealBrokenError:
        messages.error(request, _("The check was too long ago. Choose the file once more."))
        return None


def _holder(request: StaffRequest) -> str:
    """Name whose page it is; no slug of a dataset has a stroke in it."""
    return f"models/import {request.user.pk}"


def _said(report: "services.IntakeReport") -> str:
    stored = ngettext(
        "%(n)s completion is stored.", "%(n)s completions are stored.", report.n_new
    ) % {"n": f"{report.n_new:,}"}
    if not report.n_held:
        return stored
    held = ngettext(
        "%(n)s of them is held until somebody decides.",
        "%(n)s of them are held until somebody decides.",
        report.n_held,
    ) % {"n": f"{report.n_held:,}"}
    return f"{stored} {held}"
