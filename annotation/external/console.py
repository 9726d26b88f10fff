"""The console's page on judgments that other labs made, with the form of a file of them."""

from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from access.choices import Role
from access.console.undoing import say_done
from access.roles import StaffRequest, may
from annotation.external import queries, services
from annotation.external.serializers import ProvenanceIn
from annotation.models import Study
from annotation.quality.console import BatchForm
from annotation.studies.http import study_page
from annotation.tool_files.reading import JudgmentFileError, columns_named
from completions.dialogues.forms import (
    Checked,
    FileUpload,
    TooLargeError,
    TypedTextField,
)
from completions.dialogues.import_page import unsealed
from completions.files.rows import OutcomeChangedError

MOST_WORDS = 1000
STRENGTHS = range(1, 6)
DAY = forms.DateInput({"type": "date"}, format="%Y-%m-%d")


class ExternalUpload(FileUpload):
    """A file of judgments, where they come from, and what the file does not say itself."""

    source = forms.CharField(label=gettext_lazy("Name of the lab"), max_length=120)
    reference = forms.CharField(label=gettext_lazy("The lab's name of this batch"), max_length=80)
    url = forms.CharField(
        label=gettext_lazy("Web page of the lab, or about the data"), max_length=200
    )
    licence = forms.CharField(
        label=gettext_lazy("Licence of these judgments, such as CC-BY-4.0"), max_length=60
    )
    recruitment = TypedTextField(
        label=gettext_lazy("How the raters were found"), max_length=MOST_WORDS
    )
    consent = TypedTextField(label=gettext_lazy("What the raters agreed to"), max_length=MOST_WORDS)
    collected_from = forms.DateField(label=gettext_lazy("Collected from"), widget=DAY)
    collected_until = forms.DateField(label=gettext_lazy("Collected until"), widget=DAY)
    is_simulated = forms.BooleanField(label=gettext_lazy("The raters are programs"), required=False)
    columns = forms.CharField(
        label=gettext_lazy("Columns that are called otherwise, such as winner=better"),
        required=False,
    )
    strength = forms.TypedChoiceField(
        label=gettext_lazy("Strength of a preference of which the file gives none"),
        choices=[(one, one) for one in STRENGTHS],
        coerce=int,
        initial=1,
    )

    def clean_columns(self) -> dict[str, str]:
        """Return which columns of the file stand for which of ours."""
        given = self.cleaned_data["columns"]
        try:
            return columns_named(given) if given else {}
        except ValueError as error:
            raise forms.ValidationError(gettext_lazy("Name columns as OURS=THEIRS.")) from error

    def clean(self) -> dict[str, Any]:
        """Hold where the judgments come from to the rules that the API has."""
        given: dict[str, Any] = self.cleaned_data
        if not self.errors:
            told = ProvenanceIn(data=self._told(given))
            if not told.is_valid():
                for name, faults in told.errors.items():
                    self.add_error(name, [str(fault) for fault in faults])
        return given

    @property
    def answers(self) -> dict[str, Any]:
        """All but the file, so that a page can carry it."""
        given = self.cleaned_data
        told = {name: str(value) for name, value in self._told(given).items()}
        return {"provenance": told, **{name: given[name] for name in ("columns", "strength")}}

    @staticmethod
    def _told(given: dict[str, Any]) -> dict[str, Any]:
        return {name: given[name] for name in ProvenanceIn().get_fields()}


def provenance_of(told: dict[str, str]) -> services.Provenance:
    """Return where judgments come from, as a page carried it."""
    read = ProvenanceIn(data=told)
    read.is_valid(raise_exception=True)
    return read.provenance


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
            return _preview(request, study, Checked(form.cleaned_data["file"], form.answers), form)
        except JudgmentFileError as error:
            form.add_error("file", f"{form.file_name}: {error}")
        except services.ExternalConflictError as error:
            form.add_error(None, f"{error}."[:1].upper() + f"{error}."[1:])
        except TooLargeError:
            form.add_error("file", form.too_large())
    return _page(request, study, form, status=422)


@require_POST
@study_page
def store(request: StaffRequest, study: Study) -> HttpResponse:
    """Store exactly what was shown."""
    checked = unsealed(request, _holder(request, study))
    if checked is None:
        return redirect("console:external", study.slug)
    try:
        report = services.store_external_file(
            study=study,
            file=_file(checked),
            by=request.user,
            now=timezone.now(),
            as_shown=checked.digest,
        )
    except (OutcomeChangedError, JudgmentFileError, services.ExternalConflictError):
        messages.error(request, _("Something changed meanwhile. Nothing was stored: look again."))
    else:
        said = ngettext("%(n)s judgment is stored.", "%(n)s judgments are stored.", report.n_rows)
        messages.success(request, said % {"n": f"{report.n_rows:,}"})
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
        undo = reverse("console:decide_external", args=[study.slug, pk])
        back = "no" if is_excluded else "yes"
        say_done(request, str(DECIDED[is_excluded]), undo=undo, is_excluded=back)
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
    report: services.ExternalFileReport | None = None,
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


def _file(checked: Checked) -> services.ExternalFile:
    return services.ExternalFile(
        content=checked.content,
        provenance=provenance_of(checked.given["provenance"]),
        columns=checked.given["columns"],
        strength=checked.given["strength"],
    )


def _holder(request: StaffRequest, study: Study) -> str:
    """Name whose page it is; no slug of a dataset or study has a stroke in it."""
    return f"external/{study.slug} {request.user.pk}"
