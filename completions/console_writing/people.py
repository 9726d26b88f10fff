"""The console's pages on the people who write for a dataset."""

from django.contrib.admin.views.decorators import staff_member_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from completions import pool_selectors
from completions.console_http import StaffRequest, staff_page
from completions.models import Dataset


@require_GET
@never_cache
@staff_member_required
def datasets(request: HttpRequest) -> HttpResponse:
    """List the datasets with who writes for them, and how much of it is there."""
    rows = pool_selectors.dataset_rows()
    return render(request, "console/writing/datasets.html", {"datasets": rows})


@require_GET
@staff_page
def pool(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Show the people who write for a dataset."""
    return render(request, "console/writing/pool.html", {"dataset": dataset})
