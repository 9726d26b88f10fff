"""Freeze the texts of a dataset in the console, and thaw them."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from access.roles import StaffRequest
from completions.contexts.console_http import staff_page
from completions.models import Dataset
from completions.writers import services
from completions.writers.message_forms import Freeze


@require_POST
@staff_page
def freeze(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Freeze the texts, or thaw them, if the box says that it is meant."""
    form = Freeze(request.POST)
    if not form.is_valid():
        messages.error(request, _("Nothing was changed: tick the box if you mean it."))
    elif form.cleaned_data["act"] == "freeze":
        n = services.freeze_dataset(dataset=dataset, by=request.user, now=timezone.now())
        messages.success(request, _frozen(n))
    else:
        services.thaw_dataset(dataset=dataset, by=request.user, now=timezone.now())
        messages.success(request, _("Thawed: people can write and revise again."))
    return redirect("writing:messages", dataset.slug)


def _frozen(n_given_back: int) -> str:
    return ngettext(
        "Frozen. %(n)s open claim was given back, and its draft is kept.",
        "Frozen. %(n)s open claims were given back, and their drafts are kept.",
        n_given_back,
    ) % {"n": n_given_back}
