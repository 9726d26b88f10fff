"""The page of an import: a file is checked, shown, sealed into the page, stored if confirmed."""

import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Generic, TypeVar

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from access.console.csv_cells import csv_lines
from access.roles import StaffRequest
from completions.dialogues import forms
from completions.dialogues.forms import Checked, FileUpload, SealBrokenError, TooLargeError
from completions.files.refusals import InputFileError, Refusals
from completions.files.rows import OutcomeChangedError, RowFile

LISTED = 100
"""Refusals that the page shows; the table has them all."""


Report = TypeVar("Report", bound=Refusals)


class ImportPage(ABC, Generic[Report]):
    """The import of one request, whose answers views give; a subclass for each kind of rows.

    What ``upload`` asks beside the file is handed to ``attempt`` and ``keep``.
    """

    template: ClassVar[str]
    upload: ClassVar[type[FileUpload]]
    read: ClassVar[Callable[..., RowFile[Any]]]
    """Returns the rows of a file, which has ``most_rows`` at most."""
    changed: ClassVar[tuple[type[Exception], ...]] = (OutcomeChangedError,)
    """What ``keep`` raises when the outcome is another than was shown."""
    closed: ClassVar[Mapping[type[Exception], str | Promise]] = {}
    """What is raised when nothing can be stored whatever the file holds, and how that is said."""

    def __init__(
        self,
        request: StaffRequest,
        *,
        name: str,
        holder: str,
        address: str,
        done: str,
        **parts: object,
    ) -> None:
        """Answer ``request`` at ``address``, and go on to ``done``; the template gets ``parts``.

        What was sealed for another ``holder`` is not taken. The table of refusals is called by
        ``name``.
        """
        self.request, self._name, self._holder, self._parts = request, name, holder, parts
        self._address, self._done = address, done

    @abstractmethod
    def attempt(self, rows: RowFile[Any], given: Mapping[str, Any], /) -> Report:
        """Return what would become of the rows, and store nothing."""

    @abstractmethod
    def keep(self, rows: RowFile[Any], given: Mapping[str, Any], /, *, as_shown: str) -> Report:
        """Store the rows, if what becomes of them has the digest of what was shown."""

    @abstractmethod
    def said(self, report: Report) -> str:
        """Say what was stored."""

    def check(self) -> HttpResponse:
        """Take a file, and show what would become of each row; nothing is stored yet."""
        if self.request.method != "POST":
            return self._page(self.upload())
        form = self.upload(self.request.POST, self.request.FILES)
        if not form.is_valid():
            return self._page(form, status=422)
        given = dict(form.cleaned_data)
        try:
            return self._preview(Checked(given.pop("file"), given))
        except InputFileError as error:
            form.add_error("file", f"{form.file_name}: {error}.")
        except TooLargeError:
            form.add_error("file", form.too_large())
        except tuple(self.closed) as error:
            form.add_error(None, str(self.closed[type(error)]))
        return self._page(form, status=422)

    def store(self) -> HttpResponse:
        """Store exactly what was shown, or show again what changed since."""
        if (checked := unsealed(self.request, self._holder)) is None:
            return redirect(self._address)
        try:
            report = self.keep(self._rows(checked), checked.given, as_shown=checked.digest)
        except self.changed:
            said = _("Something changed meanwhile. Nothing was stored: look again.")
            messages.error(self.request, said)
            return self._preview(checked, status=409)
        except tuple(self.closed) as error:
            messages.error(self.request, str(self.closed[type(error)]))
            return redirect(self._address)
        messages.success(self.request, self.said(report))
        return redirect(self._done)

    def refused(self) -> HttpResponse:
        """Send the refusals as a table."""
        if (checked := unsealed(self.request, self._holder)) is None:
            return redirect(self._address)
        try:
            report = self.attempt(self._rows(checked), checked.given)
        except tuple(self.closed):
            return redirect(self._address)
        answer = HttpResponse(content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="{self._name}-refused.csv"'
        answer.writelines(csv_lines(report.rows()))
        return answer

    def _preview(self, checked: Checked, *, status: int = 200) -> HttpResponse:
        rows = self._rows(checked)
        report = self.attempt(rows, checked.given)
        parts = {
            "report": report,
            "listed": report.refused[:LISTED],
            "n_unlisted": max(0, len(report.refused) - LISTED),
            "notes": rows.notes,
            **checked.given,
            "sealed": replace(checked, digest=report.digest).seal(self._holder),
        }
        return self._page(self.upload(), status=status, **parts)

    def _page(self, form: FileUpload, *, status: int = 200, **report: object) -> HttpResponse:
        parts = {"form": form, "most_rows": forms.MOST_ROWS, **self._parts, **report}
        return render(self.request, self.template, parts, status=status)

    def _rows(self, checked: Checked) -> RowFile[Any]:
        return self.read(io.BytesIO(checked.content), most_rows=forms.MOST_ROWS)


def import_paths(
    start: str,
    page_of: Callable[..., ImportPage[Any]],
    members: Callable[..., Callable[..., Any]],
) -> list[URLPattern]:
    """Return the addresses where a file is checked, stored if confirmed, and its refusals sent.

    ``members`` makes views of members; ``page_of`` is given what these views are given.
    """

    def shown(answer: Callable[..., HttpResponse]) -> Callable[..., Any]:
        def view(request: StaffRequest, *owner: object) -> HttpResponse:
            return answer(page_of(request, *owner))

        return members(view)

    check, store, refused = map(shown, (ImportPage.check, ImportPage.store, ImportPage.refused))
    return [
        path(start, require_http_methods(["GET", "HEAD", "POST"])(check), name="import"),
        path(f"{start}store/", require_POST(store), name="import-store"),
        path(f"{start}refused/", require_POST(refused), name="import-refused"),
    ]


def unsealed(request: StaffRequest, holder: str) -> Checked | None:
    """Return what the page carried, or say that it is not to be trusted any more."""
    try:
        return Checked.unseal(request.POST.get("sealed", ""), holder)
    except SealBrokenError:
        messages.error(request, _("The check was too long ago. Choose the file once more."))
        return None
