"""The console's page on which messages are brought in that were written elsewhere."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from access.roles import StaffRequest
from completions.contexts.console_http import staff_page
from completions.dialogues.forms import Upload
from completions.dialogues.import_page import ImportPage
from completions.models import Dataset
from completions.writers.importing import WrittenFile, written_file
from completions.writers.services import importing, leasing
from completions.writers.services.importing import MessageImportReport


class MessageImport(ImportPage[MessageImportReport]):
    """Messages for one dataset."""

    template = "console/writing/import.html"
    upload = Upload
    read = staticmethod(written_file)
    closed: ClassVar = {leasing.DatasetFrozenError: _("The dataset is frozen: nothing was stored.")}

    def __init__(self, request: StaffRequest, dataset: Dataset) -> None:
        super().__init__(
            request,
            holder=f"{dataset.slug} {request.user.pk}",
            address=reverse("writing:import", args=[dataset.slug]),
            done=reverse("writing:messages", args=[dataset.slug]),
            dataset=dataset,
        )
        self.dataset = dataset

    def attempt(self, rows: WrittenFile, given: Mapping[str, Any]) -> MessageImportReport:
        """Return what would become of them."""
        return importing.try_messages(
            dataset=self.dataset,
            rows=rows,
            now=timezone.now(),
            are_accepted=given["are_accepted"],
        )

    def keep(
        self, rows: WrittenFile, given: Mapping[str, Any], *, as_shown: str
    ) -> MessageImportReport:
        """Store them."""
        return importing.import_messages(
            dataset=self.dataset,
            rows=rows,
            now=timezone.now(),
            by=self.request.user,
            are_accepted=given["are_accepted"],
            as_shown=as_shown,
        )

    def said(self, report: MessageImportReport) -> str:
        """Say how many wait, and how many are accepted."""
        return ngettext(
            "%(n)s message is stored: %(waiting)s to review, %(accepted)s accepted.",
            "%(n)s messages are stored: %(waiting)s to review, %(accepted)s accepted.",
            report.n_stored,
        ) % {
            "n": f"{report.n_stored:,}",
            "waiting": f"{report.n_waiting:,}",
            "accepted": f"{report.n_accepted:,}",
        }

    def n_told(self, report: MessageImportReport) -> int:
        """Return how many rows are refused."""
        return report.n_refused


@require_http_methods(["GET", "HEAD", "POST"])
@staff_page
def import_file(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Take a file, and show what would become of each row; nothing is stored yet."""
    return MessageImport(request, dataset).check()


@require_POST
@staff_page
def store(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Store exactly what was shown, or show again what changed since."""
    return MessageImport(request, dataset).store()


@require_POST
@staff_page
def refused(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Send the refused rows as a table."""
    return MessageImport(request, dataset).refused(name=dataset.slug)
