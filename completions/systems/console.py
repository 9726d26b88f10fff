"""The console's pages on systems, and on importing what models gave elsewhere."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from access.choices import Role
from access.console.csv_cells import Cell
from access.console.tables import PER_PAGE, Table, TableQuery, csv_of
from access.console.undoing import say_done
from access.roles import StaffRequest, may, members_only
from access.webhooks.outgoing import Rules
from completions.choices import SystemKind, Way
from completions.dialogues.forms import CompletionUpload
from completions.dialogues.import_page import ImportPage
from completions.files.rows import OutcomeChangedError
from completions.models import System
from completions.runs.services import budgeting
from completions.runs.services.speaking import trusted_hosts
from completions.systems import catalogue, queries
from completions.systems.catalogue import CatalogueEntry
from completions.systems.forms import NewSystem
from completions.systems.importing import ImportedFile, imported_file
from completions.systems.services import importing, registering, syncing
from completions.systems.services.importing import IntakeReport, RowsRefusedError
from completions.systems.services.syncing import SyncReport

COLUMNS = (
    *("slug", "name", "maker", "model", "address", "is_simulated", "is_listed", "variables"),
    *("usd_a_million_asked", "usd_a_million_answered"),
)


@dataclass(frozen=True)
class ListedModel:
    """A registered model: its row, whether a catalogue lists it, what it needs and costs."""

    row: Any
    is_listed: bool
    variables: Mapping[str, bool]
    """The names of the variables that its calls read, and whether they are set."""
    price: Mapping[str, float] | None

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of ``COLUMNS``; of a key, the name of its variable alone."""
        row, price = self.row, self.price or {}
        told = (row.slug, row.name, row.family, row.model_id, row.api_base, row.is_simulated)
        needs = " ".join(self.variables)
        return (*told, self.is_listed, needs, price.get("input"), price.get("output"))


def listed_models(rows: Iterable[Any], entries: Iterable[CatalogueEntry]) -> list[ListedModel]:
    """Return these models, with what the catalogue and the environment have of each."""
    listed = {entry.slug for entry in entries}
    return [
        ListedModel(row, row.slug in listed, queries.variables_of(row), budgeting.price_of(row))
        for row in rows
    ]


def listing(label: object, *, counted: tuple[str, object]) -> Table:
    """Return how a table may be asked for whose first column has that label.

    ``counted`` is the column of how much there is of each: its field, and its label.
    """
    field, counts = counted
    return Table(
        orders={
            "name": (label, ("name",)),
            "n": (counts, (field,)),
            "maker": (gettext_lazy("Maker"), ("family",)),
            "model": (gettext_lazy("Asked as"), ("model_id",)),
        },
        usual="name",
        shows={
            "real": (gettext_lazy("not simulated"), Q(is_simulated=False)),
            "simulated": (gettext_lazy("simulated"), Q(is_simulated=True)),
        },
        searched=("name", "slug", "family", "model_id"),
        numbers=("n",),
    )


SYSTEMS = listing(gettext_lazy("System"), counted=("n_completions", gettext_lazy("Completions")))


@require_safe
@members_only()
def systems(request: HttpRequest) -> HttpResponse:
    """List the language models, where they are from, and what a call to them still needs."""
    return _show(request)


@require_safe
@members_only()
def systems_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Download the same systems, in the same order; of a key, the name of its variable alone."""
    models = _models(SYSTEMS.asked(request))
    cells = ((*one.cells, one.row.n_completions, one.row.n_imported) for one in models)
    return csv_of(request, "systems", (*COLUMNS, "completions", "brought_in"), cells)


def _models(query: TableQuery) -> list[ListedModel]:
    models = queries.counted_systems().filter(kind=SystemKind.MODEL)
    entries = catalogue.load_catalogues(catalogue.shipped()).system
    return listed_models(query.apply(models), entries)


def _show(request: HttpRequest, report: SyncReport | None = None) -> HttpResponse:
    """Show the systems that the address asks for, under what a sync changed."""
    query = SYSTEMS.asked(request)
    page = Paginator(_models(query), PER_PAGE).get_page(request.GET.get("page", ""))
    parts = {"report": report, "filters": query, "page": page}
    return render(request, "console/models/systems.html", parts)


@require_POST
@members_only()
def sync(request: StaffRequest) -> HttpResponse:
    """Bring the shipped catalogue into the table, and show what that changed."""
    try:
        found = catalogue.load_catalogues(catalogue.shipped())
    except catalogue.CatalogueError as error:
        messages.error(request, _("Nothing was written: %(why)s") % {"why": error})
        return redirect("models:systems")
    report = syncing.sync_systems(entries=found.system, by=request.user, now=timezone.now())
    return _show(request, report)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only()
def add(request: StaffRequest) -> HttpResponse:
    """Register a system of one's own."""
    form = NewSystem(
        request.POST or None,
        may_name_addresses=may(request, Role.OWNER),
        rules=Rules(trusted_hosts=trusted_hosts()),
    )
    if not form.is_valid():
        status = 422 if form.is_bound else 200
        return render(request, "console/models/add.html", {"form": form}, status=status)
    try:
        system = registering.add_system(
            entry=form.cleaned_data["entry"], by=request.user, now=timezone.now()
        )
    except registering.SystemTakenError as error:
        form.add_error(error.field, str(error))
        return render(request, "console/models/add.html", {"form": form}, status=422)
    messages.success(request, _("%(name)s is registered.") % {"name": system.name})
    return redirect("models:systems")


@require_http_methods(["GET", "HEAD", "POST"])
@members_only()
def system(request: StaffRequest, slug: str) -> HttpResponse:
    """Show a system, and change one of our own; those of the catalogue are as it says."""
    found = get_object_or_404(System, slug=slug, kind=SystemKind.MODEL)
    is_listed = slug in {one.slug for one in catalogue.load_catalogues(catalogue.shipped()).system}
    form = NewSystem(
        request.POST if request.method == "POST" else None,
        may_name_addresses=may(request, Role.OWNER),
        rules=Rules(trusted_hosts=trusted_hosts()),
        system=found,
    )
    if not is_listed and form.is_valid():
        entry = form.cleaned_data["entry"]
        report = syncing.sync_systems(entries=[entry], by=request.user, now=timezone.now())
        if not report.refused:
            messages.success(request, _("%(name)s is changed.") % {"name": entry.name})
            return redirect("models:system", slug)
        form.add_error(None, report.refused[slug])
    parts = {"system": found, "form": form, "is_listed": is_listed}
    status = 422 if form.is_bound else 200
    return render(request, "console/models/system.html", parts, status=status)


@require_POST
@members_only()
def retire(request: StaffRequest, slug: str) -> HttpResponse:
    """Ask a system for nothing new, or let it be asked again; its completions stay."""
    found = get_object_or_404(System, slug=slug, kind=SystemKind.MODEL)
    is_back = request.POST.get("is_back") == "yes"
    registering.retire_system(system=found, is_back=is_back, by=request.user, now=timezone.now())
    said = _("It can be asked again.") if is_back else _("Retired: nothing new is asked of it.")
    undo = reverse("models:retire", args=[slug])
    say_done(request, said, undo=undo, is_back="no" if is_back else "yes")
    return redirect("models:system", slug)


class CompletionImport(ImportPage[IntakeReport]):
    """Completions that models gave elsewhere, for contexts of any dataset."""

    template = "console/models/import.html"
    upload = CompletionUpload
    read = staticmethod(imported_file)
    changed = (OutcomeChangedError, RowsRefusedError)

    def __init__(self, request: StaffRequest) -> None:
        super().__init__(
            request,
            name="completions",
            holder=f"models/import {request.user.pk}",  # no slug of a dataset has a stroke in it
            address=reverse("models:import"),
            done=reverse("models:systems"),
        )

    def attempt(self, rows: ImportedFile, _given: object) -> IntakeReport:
        """Return what would become of them."""
        by, now = self.request.user, timezone.now()
        return importing.try_completions(rows=rows, way=Way.CONSOLE, by=by, now=now)

    def keep(self, rows: ImportedFile, _given: object, *, as_shown: str) -> IntakeReport:
        """Store them."""
        by, now = self.request.user, timezone.now()
        return importing.import_completions(
            rows=rows, way=Way.CONSOLE, by=by, now=now, as_shown=as_shown
        )

    def said(self, report: IntakeReport) -> str:
        """Say how many are stored, and how many of them are held."""
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
