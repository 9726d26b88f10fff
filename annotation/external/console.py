"""The console's page on judgments that other labs made of a study's pairs."""

from dataclasses import replace

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from access.choices import Role
from access.roles import StaffRequest, may
from annotation.external import queries, services
from annotation.external.forms import ExternalUpload, provenance_of
from annotation.models import Study
from annotation.quality.forms import BatchForm
from annotation.studies.http import study_page
from annotation.tool_files import JudgmentFileError
from completions.dialogues.forms import Checked, SealBrokenError, TooLargeError
from completions.files import OutcomeChangedError

DECIDED = {
    True: gettext_lazy("The batch is left out of what is passed on."),
    False: gettext_lazy("The batch is taken back."),
}
LISTED = 100
"""Rows at fault that the page shows."""


@require_http_methods(["GET", "HEAD", "POST"])
@study_page
def external(request: StaffRequest, study: Study) -> HttpResponse:
    """Show every batch; take a file, and show what would become of it. Nothing is stored yet."""
    if request.method != "POST":
        return _page(request, study, ExternalUpload())
    form = ExternalUpload(request.POST, request.FILES)
    if form.is_valid():
        try:
            return _preview(request, study, Checked(form.sent.text, form.answers), form)
        except JudgmentFileError as error:
            form.add_error("file", f"{form.sent.name}: {error}")
        except services.ExternalConflictError as error:
            form.add_error(None, f"{error}."[:1].upper() + f"{error}."[1:])
        except TooLargeError:
            form.add_error("file", form.too_large())
    return _page(request, study, form, status=422)


@require_POST
@study_page
def store(request: StaffRequest, study: Study) -> HttpResponse:
    """Store exactly what was shown."""
    try:
        checked = Checked.unseal(request.POST.get("sealed", ""), _holder(request, study))
        report = services.store_external_file(
            study=study,
            file=_file(checked),
            by=request.user,
            now=timezone.now(),
            as_shown=checked.digest,
        )
    except SealBrokenError:
        messages.error(request, _("The check was too long ago. Choose the file once more."))
    except (OutcomeChangedError, JudgmentFileError, services.ExternalConflictError):
        messages.error(request, _("Something changed meanwhile. Nothing was stored: look again."))
    else:
        said = ngettext("%(n)d judgment is stored.", "%(n)d judgments are stored.", report.n_rows)
        messages.success(request, said % {"n": report.n_rows})
    return redirect("console:external", study.slug)


@require_POST
@study_page
def decide(request: StaffRequest, study: Study, pk: int) -> HttpResponse:
    """Leave a batch out, or take it back, with the reason."""
    batch = queries.batch_of(study, pk)
    if batch is None:
        raise Http404
    form = BatchForm(request.POST)
    if form.is_valid():
        is_excluded = form.cleaned_data["is_excluded"]
        services.decide_external(
            batch=batch,
            is_excluded=is_excluded,
            reason=form.cleaned_data["reason"],
            by=request.user,
            now=timezone.now(),
        )
        messages.success(request, DECIDED[is_excluded])
    else:
        messages.error(request, form.problem())
    return redirect("console:external", study.slug)


def _preview(
    request: StaffRequest, study: Study, checked: Checked, form: ExternalUpload
) -> HttpResponse:
    report = services.try_external_file(
        study=study, file=_file(checked), by=request.user, now=timezone.now()
    )
    sealed = replace(checked, digest=report.digest).seal(_holder(request, study))
    return _page(request, study, form, report=report, sealed=sealed)


def _page(
    request: StaffRequest,
    study: Study,
    form: ExternalUpload,
    *,
    status: int = 200,
    report: "services.ExternalFileReport | None" = None,
    sealed: str = "",
) -> HttpResponse:
    problems = report.problems if report else ()
    parts = {
        "study": study,
        "batches": queries.batches_shown(study),
        "may_decide": may(request, Role.MANAGER),
        "form": form,
        "report": report,
        "listed": problems[:LISTED],
        "n_unlisted": max(0, len(problems) - LISTED),
        "sealed": sealed,
    }
    return render(request, "console/study/external.html", parts, status=status)


def _file(checked: Checked) -> "services.ExternalFile":
    return services.ExternalFile(
        content=checked.content,
        provenance=provenance_of(checked.given["provenance"]),
        columns=checked.given["columns"],
        strength=checked.given["strength"],
    )


def _holder(request: StaffRequest, study: Study) -> str:
    """Name whose page it is; no slug of a dataset or study has a stroke in it."""
    return f"external/{study.slug} {request.user.pk}"
