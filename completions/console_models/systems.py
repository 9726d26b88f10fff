"""The console's pages on systems: what is registered, and the ways to register more."""

import os

from django.contrib import messages
from django.contrib.admin.views.decorators import staff_member_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from completions import catalogue, services
from completions.console_forms.systems import NewSystem
from completions.console_http import StaffRequest
from completions.console_models.rows import model_rows


@require_GET
@never_cache
@staff_member_required
def systems(request: HttpRequest) -> HttpResponse:
    """List the language models, where they are from, and what a call to them still needs."""
    return render(request, "console/models/systems.html", {"models": model_rows(os.environ)})


@require_POST
@never_cache
@staff_member_required
def sync(request: StaffRequest) -> HttpResponse:
    """Bring the shipped catalogue into the table, and show what that changed."""
    try:
        found = catalogue.load_catalogues(catalogue.shipped())
    except catalogue.CatalogueError as error:
        messages.error(request, _("Nothing was written: %(why)s") % {"why": error})
        return redirect("models:systems")
    report = services.sync_systems(entries=found.system, by=request.user, now=timezone.now())
    parts = {"report": report, "models": model_rows(os.environ)}
    return render(request, "console/models/systems.html", parts)


@require_http_methods(["GET", "POST"])
@never_cache
@staff_member_required
def add(request: StaffRequest) -> HttpResponse:
    """Register a system of one's own."""
    form = NewSystem(request.POST or None)
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
