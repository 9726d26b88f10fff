"""The console's page on which messages are brought in that were written elsewhere."""

import io
from dataclasses import replace

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from access.console.csv_cells import csv_lines
from access.roles import StaffRequest
from completions.contexts.console_http import staff_page
from completions.dialogues import forms
from completions.dialogues.forms import Checked
from completions.files import InputFileError, OutcomeChangedError
from completions.models import Dataset
from completions.writers import services
from completions.writers.importing import WrittenFile, written_file

LISTED = 100
"""Refused rows that the page shows; the table has them all."""


@require_http_methods(["GET", "HEAD", "POST"])
@staff_page
def import_file(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Take a file, and show what would become of each row; nothing is stored yet."""
    if request.method != "POST":
        return _page(request, dataset, forms.Upload())
    form = forms.Upload(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, dataset, form, status=422)
    sent = form.cleaned_data["file"]
    try:
        checked = Checked(sent.text, {"are_accepted": form.cleaned_data["are_accepted"]})
        return _preview(request, dataset, checked)
    except InputFileError as error:
        form.add_error("file", f"{sent.name}: {error}.")
    except forms.TooLargeError:
        form.add_error("file", form.too_large())
    except services.DatasetFrozenError:
        form.add_error(None, _("The dataset is frozen: nothing was stored."))
    return _page(request, dataset, form, status=422)


@require_POST
@staff_page
def store(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Store exactly what was shown, or show again what changed since."""
    if (checked := _unsealed(request, dataset)) is None:
        return redirect("writing:import", dataset.slug)
    try:
        report = services.import_messages(
            dataset=dataset,
            rows=_file(checked),
            now=timezone.now(),
            by=request.user,
            are_accepted=checked.given["are_accepted"],
            as_shown=checked.digest,
        )
    except OutcomeChangedError:
        messages.error(request, _("Something changed meanwhile. Nothing was stored: look again."))
        return _preview(request, dataset, checked, status=409)
    except services.DatasetFrozenError:
        messages.error(request, _("The dataset is frozen: nothing was stored."))
    else:
        messages.success(request, _said(report))
        return redirect("writing:messages", dataset.slug)
    return redirect("writing:import", dataset.slug)


@require_POST
@staff_page
def refused(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Send the refused rows as a table."""
    if (checked := _unsealed(request, dataset)) is None or dataset.frozen_at is not None:
        return redirect("writing:import", dataset.slug)
    report = _tried(dataset, checked)[1]
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{dataset.slug}-refused.csv"'
    answer.writelines(csv_lines(report.rows()))
    return answer


def _preview(
    request: StaffRequest, dataset: Dataset, checked: Checked, *, status: int = 200
) -> HttpResponse:
    file, report = _tried(dataset, checked)
    shown = replace(checked, digest=report.digest)
    parts = {
        "report": report,
        "listed": report.refused[:LISTED],
        "n_unlisted": max(0, report.n_refused - LISTED),
        "notes": file.notes,
        **checked.given,
        "sealed": shown.seal(_holder(request, dataset)),
    }
    return _page(request, dataset, forms.Upload(), status=status, **parts)


def _page(
    request: StaffRequest,
    dataset: Dataset,
    form: forms.Upload,
    *,
    status: int = 200,
    **report: object,
) -> HttpResponse:
    parts = {"dataset": dataset, "form": form, "most_rows": forms.MOST_ROWS, **report}
    return render(request, "console/writing/import.html", parts, status=status)


def _tried(
    dataset: Dataset, checked: Checked
) -> "tuple[WrittenFile, services.MessageImportReport]":
    """Return the file as it was gone through, and what would become of its rows."""
    file = _file(checked)
    report = services.try_messages(
        dataset=dataset, rows=file, now=timezone.now(), are_accepted=checked.given["are_accepted"]
    )
    return file, report


def _file(checked: Checked) -> WrittenFile:
    return written_file(io.BytesIO(checked.content), most_rows=forms.MOST_ROWS)


def _unsealed(request: StaffRequest, dataset: Dataset) -> Checked | None:
    """Return what the page carried, or say that it is not to be trusted any more."""
    try:
        return Checked.unseal(request.POST.get("sealed", ""), _holder(request, dataset))
    except forms.SealBrokenError:
        messages.error(request, _("The check was too long ago. Choose the file once more."))
        return None


def _holder(request: StaffRequest, dataset: Dataset) -> str:
    return f"{dataset.slug} {request.user.pk}"


def _said(report: "services.MessageImportReport") -> str:
    return ngettext(
        "%(n)s message is stored: %(waiting)s to review, %(accepted)s accepted.",
        "%(n)s messages are stored: %(waiting)s to review, %(accepted)s accepted.",
        report.n_stored,
    ) % {
        "n": f"{report.n_stored:,}",
        "waiting": f"{report.n_waiting:,}",
        "accepted": f"{report.n_accepted:,}",
    }
