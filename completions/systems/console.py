"""The console's pages on systems: what is registered, and the ways to register more."""

import os

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from access.choices import Role
from access.console.tables import PER_PAGE, csv_of
from access.roles import StaffRequest, may, members_only
from access.webhooks.outgoing import Rules
from completions.runs.services.reaching import trusted_hosts
from completions.systems import catalogue, services
from completions.systems.forms import NewSystem
from completions.systems.rows import COLUMNS, SYSTEMS, model_rows
from completions.systems.services.syncing import SyncReport


@require_safe
@never_cache
@members_only()
def systems(request: HttpRequest) -> HttpResponse:
    """List the language models, where they are from, and what a call to them still needs."""
    return _show(request)


@require_safe
@never_cache
@members_only()
def systems_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Download the same systems, in the same order; of a key, the name of its variable alone."""
    rows = model_rows(os.environ, SYSTEMS.asked(request).apply)
    cells = ((*one.cells, one.row.n_completions, one.row.n_brought) for one in rows)
    return csv_of(request, "systems", COLUMNS, cells)


def _show(request: HttpRequest, report: SyncReport | None = None) -> HttpResponse:
    """Show the systems that the address asks for, under what a sync changed."""
    wanted = SYSTEMS.asked(request)
    rows = Paginator(model_rows(os.environ, wanted.apply), PER_PAGE)
    page = rows.get_page(request.GET.get("page", ""))
    parts = {"report": report, "wanted": wanted, "page": page}
    return render(request, "console/models/systems.html", parts)


@require_POST
@never_cache
@members_only()
def sync(request: StaffRequest) -> HttpResponse:
    """Bring the shipped catalogue into the table, and show what that changed."""
    try:
        found = catalogue.load_catalogues(catalogue.shipped())
    except catalogue.CatalogueError as error:
        messages.error(request, _("Nothing was written: %(why)s") % {"why": error})
        return redirect("models:systems")
    report = services.sync_systems(entries=found.system, by=request.user, now=timezone.now())
    return _show(request, report)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
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
        system = services.add_system(
            entry=form.cleaned_data["entry"], by=request.user, now=timezone.now()
        )
    except services.SystemTakenError as error:
        form.add_error(error.field, str(error))
        return render(request, "console/models/add.html", {"form": form}, status=422)
    messages.success(request, _("%(name)s is registered.") % {"name": system.name})
    return redirect("models:systems")
