"""The site's own page: which studies there are."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.studies import selectors


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show the studies that visitors may judge in or read about."""
    return render(request, "home.html", {"studies": selectors.public_studies()})
