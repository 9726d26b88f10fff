"""The console's pages that make a study of a file of texts: check it, answer three questions."""

import io
from pathlib import PurePath

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from access.roles import StaffRequest
from annotation.quick import services
from annotation.quick.layout import QuickFile, read_quick
from annotation.quick.services import QuickWish
from annotation.studies.http import managers_page
from completions.choices import Way
from completions.dialogues.forms import Checked, FileUpload, TooLargeError, for_any_fault
from completions.dialogues.import_page import unsealed
from completions.files.refusals import InputFileError
from completions.systems.services.importing import RowsRefusedError

LISTED = 20
"""Faults that the page shows."""
RATERS = {
    "link": gettext_lazy("Whoever has the link"),
    "prolific": gettext_lazy("People of Prolific"),
    "team": gettext_lazy("Our own team, signed out of the console"),
}
"""Who rates, in words."""


class QuickForm(forms.Form):
    """What a file of texts does not say."""

    name = forms.CharField(
        max_length=80,
        label=gettext_lazy("Name of the study"),
        error_messages={"required": gettext_lazy("Name the study.")},
    )
    question = forms.CharField(
        max_length=300,
        label=gettext_lazy("What are raters asked?"),
        error_messages={"required": gettext_lazy("Write the question.")},
    )
    judgments = forms.IntegerField(
        min_value=1,
        max_value=services.MOST_JUDGMENTS,
        label=gettext_lazy("Judgments per pair"),
        error_messages=for_any_fault(gettext_lazy("Give a whole number from 1 to 1,000.")),
    )
    raters = forms.ChoiceField(
        choices=list(RATERS.items()),
        label=gettext_lazy("Who rates?"),
        error_messages=for_any_fault(gettext_lazy("Say who rates.")),
    )

    @property
    def wish(self) -> QuickWish:
        """Return what was answered; only of a valid form."""
        told = self.cleaned_data
        platform = services.PLATFORMS[told["raters"]]
        return QuickWish(told["name"], told["question"], told["judgments"], platform)


@require_http_methods(["GET", "HEAD", "POST"])
@managers_page
def import_file(request: StaffRequest) -> HttpResponse:
    """Take a file, show what it holds, and ask the three questions; nothing is stored yet."""
    if request.method != "POST":
        return _page(request, FileUpload())
    upload = FileUpload(request.POST, request.FILES)
    if not upload.is_valid():
        return _page(request, upload, status=422)
    name = upload.file_name
    checked = Checked(upload.cleaned_data["file"], {"name": name})
    try:
        file = read_quick(io.BytesIO(checked.content))
        if file.faults:
            return _page(request, upload, status=422, file=file, faults=file.faults[:LISTED])
        usual = services.usual()
        initial = {
            "name": PurePath(name).stem.replace("_", " "),
            "question": usual.question,
            "judgments": usual.judgments_per_pair,
            "raters": "link",
        }
        return _ask(request, checked, file, QuickForm(initial=initial))
    except InputFileError as error:
        upload.add_error("file", f"{name}: {error}.")
    except TooLargeError:
        upload.add_error("file", upload.too_large())
    return _page(request, upload, status=422)


@require_POST
@managers_page
def make(request: StaffRequest) -> HttpResponse:
    """Make the study of the file that was shown, and open it; all of it or nothing."""
    checked = unsealed(request, _holder(request))
    if checked is None:
        return redirect("console:new_quick")
    file, form = read_quick(io.BytesIO(checked.content)), QuickForm(request.POST)
    if not form.is_valid():
        return _ask(request, checked, file, form)
    try:
        report = services.make_quick_study(
            file=file, wish=form.wish, now=timezone.now(), by=request.user, way=Way.CONSOLE
        )
    except RowsRefusedError as error:
        for one in error.refused[:LISTED]:
            form.add_error(
                None, _("Line %(n)s: %(why)s") % {"n": f"{one.position:,}", "why": one.why}
            )
        return _ask(request, checked, file, form)
    except services.REFUSALS as error:
        form.add_error(None, str(error))
        return _ask(request, checked, file, form)
    messages.success(request, _said(report))
    return redirect("console:study", report.study.slug)


def _page(
    request: StaffRequest, upload: FileUpload, *, status: int = 200, **parts: object
) -> HttpResponse:
    return render(request, "console/new/quick.html", {"upload": upload, **parts}, status=status)


def _ask(request: StaffRequest, checked: Checked, file: QuickFile, form: QuickForm) -> HttpResponse:
    parts = {"file": file, "form": form, "sealed": checked.seal(_holder(request))}
    status = 422 if form.is_bound else 200
    return _page(request, FileUpload(), status=status, **parts)


def _holder(request: StaffRequest) -> str:
    return f"study quick {request.user.pk}"


def _said(report: services.QuickReport) -> str:
    n_texts, n_pairs = report.intake.n_new, report.plan.summary.n_added
    texts = ngettext("%(n)s new text", "%(n)s new texts", n_texts) % {"n": f"{n_texts:,}"}
    pairs = ngettext("%(n)s new pair", "%(n)s new pairs", n_pairs) % {"n": f"{n_pairs:,}"}
    told = {"texts": texts, "pairs": pairs}
    said = _("The study is open: %(texts)s, %(pairs)s.") % told
    if not report.is_new:
        said = _("Added to the study: %(texts)s, %(pairs)s. Its settings stay.") % told
    held = report.intake.n_held
    if not held:
        return said
    more = _("%(n)s held back: they seem to give their source away.") % {"n": f"{held:,}"}
    return f"{said} {more}"
