"""The console's pages on contexts: how they came about, and where people keep or drop them."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from access.console.tables import read_ticked
from access.roles import StaffRequest, members_only
from completions.choices import Review, Stratum
from completions.contexts import console_http, queries, review_queries
from completions.contexts.console_http import or_404, staff_page
from completions.contexts.funnel import page_parts
from completions.contexts.queries import CandidateFilter, ContextFilter
from completions.contexts.rewrite_display import curve
from completions.contexts.screening.rules import DISQUALIFIERS
from completions.contexts.services.building import review_context
from completions.models import Dataset


@require_safe
@members_only()
def datasets(request: HttpRequest) -> HttpResponse:
    """List the datasets with how far their review is."""
    rows = queries.dataset_rows()
    return render(request, "console/contexts/datasets.html", {"datasets": rows})


@require_safe
@staff_page
def funnel(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Show the way from dialogues to contexts, every step with its counts."""
    return render(request, "console/contexts/funnel.html", page_parts(dataset))


@require_safe
@staff_page
def contexts(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """List the contexts that the address asks for."""
    filters = ContextFilter.of(request.GET)
    parts = {
        "dataset": dataset,
        "filters": filters,
        "page": queries.context_page(dataset, filters, page=request.GET.get("page", "")),
        "label_fields": _label_fields(dataset, filters),
        "reviews": [(queries.IN_USE, _("In use: not dropped")), *Review.choices],
        "strata": Stratum.choices,
        "queue": queries.queue(dataset, filters, key=""),
    }
    return render(request, "console/contexts/list.html", parts)


@require_safe
@staff_page
def candidates(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """List the candidates that the address asks for, with what removed them."""
    filters = CandidateFilter.of(request.GET)
    page = request.GET.get("page", "")
    parts = {
        "dataset": dataset,
        "filters": filters,
        "page": queries.candidate_page(dataset, filters, page=page),
        "label_fields": _label_fields(dataset, filters),
        "rules": DISQUALIFIERS,
    }
    return render(request, "console/contexts/candidates.html", parts)


def _label_fields(
    dataset: Dataset, filters: ContextFilter | CandidateFilter
) -> list[tuple[str, str, list[str], str]]:
    """Return the filters by label: name, title, what may be chosen, and what is."""
    emotions, problems = queries.labels(dataset)
    return [
        ("emotion", _("Emotion"), emotions, filters.emotion),
        ("problem", _("Problem"), problems, filters.problem),
    ]


@require_safe
@staff_page
def candidate(request: StaffRequest, dataset: Dataset, pk: int) -> HttpResponse:
    """Show one candidate as screened, to read."""
    filters = CandidateFilter.of(request.GET)
    found = or_404(review_queries.candidate_of_key(dataset, pk=pk))
    before, after = queries.neighbours(dataset, filters, pk=pk)
    parts = {
        "dataset": dataset,
        "filters": filters,
        "candidate": found,
        "contexts": review_queries.contexts_of(found),
        "reading": review_queries.candidate_reading(found),
        "before": before,
        "after": after,
    }
    return render(request, "console/contexts/candidate.html", parts)


@require_safe
@staff_page
def context(request: StaffRequest, dataset: Dataset, key: str) -> HttpResponse:
    """Show one context with all that a reviewer weighs, and the way to keep or drop it."""
    filters = ContextFilter.of(request.GET)
    return _show_context(request, dataset, key, filters)


@require_POST
@staff_page
def review(request: StaffRequest, dataset: Dataset, key: str) -> HttpResponse:
    """Store what the reviewer decided, and go on to the next that waits."""
    filters = ContextFilter.of(request.GET)
    form = console_http.ReviewForm(request.POST)
    if not form.is_valid():
        return _show_context(request, dataset, key, filters, form=form)
    decision, note = form.cleaned_data["decision"], form.cleaned_data["note"]
    found = or_404(queries.context_of_key(dataset, key))
    review_context(context=found, decision=decision, note=note, by=request.user, now=timezone.now())
    here = _address(dataset, key, filters)
    if decision is None or decision == Review.PENDING:
        messages.success(
            request, _("The note is saved.") if decision is None else _("Not reviewed any more.")
        )
        return redirect(here)
    return _next_page(request, dataset, key, filters, decision)


@require_POST
@staff_page
def review_many(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Store one decision about every context that is ticked; notes stay as they are."""
    form = console_http.ManyReviewed(request.POST)
    back = _list_address(dataset, ContextFilter.of(request.GET))
    keys = read_ticked(request.POST, "keys", most=queries.PER_PAGE)
    if not form.is_valid() or not keys:
        messages.error(request, _("Nothing was decided: tick the contexts that are meant."))
        return redirect(back)
    decision = form.cleaned_data["decision"]
    found = queries.contexts_of_keys(dataset, keys)
    with transaction.atomic():
        for context in found:
            review_context(
                context=context, decision=decision, note=None, by=request.user, now=timezone.now()
            )
    label = Review(decision).label
    messages.success(
        request,
        ngettext("%(n)s context: %(what)s", "%(n)s contexts: %(what)s", len(found))
        % {"n": f"{len(found):,}", "what": label},
    )
    return redirect(back)


def _list_address(dataset: Dataset, filters: ContextFilter) -> str:
    return reverse("contexts:list", args=[dataset.slug]) + filters.suffix


def _show_context(
    request: StaffRequest,
    dataset: Dataset,
    key: str,
    filters: ContextFilter,
    *,
    form: console_http.ReviewForm | None = None,
) -> HttpResponse:
    found = or_404(queries.context_of_key(dataset, key))
    cut_at, origin = review_queries.candidate_of(found), found.provenance
    parts = {
        "dataset": dataset,
        "filters": filters,
        "context": found,
        "candidate": cut_at,
        "reading": review_queries.context_reading(found, cut_at),
        "curve": curve(origin.get("target", ()), origin.get("measured", ())),
        "changes": review_queries.changes(found),
        "history": review_queries.history(found),
        "queue": queries.queue(dataset, filters, key=key),
        "form": form or console_http.ReviewForm(initial={"note": found.review_note}),
    }
    status = 422 if form else 200
    return render(request, "console/contexts/context.html", parts, status=status)


def _next_page(
    request: StaffRequest, dataset: Dataset, key: str, filters: ContextFilter, decision: Review
) -> HttpResponse:
    """Lead to the next context, and say what happened to this one, with the way back to it."""
    said = _("Kept") if decision == Review.KEPT else _("Dropped")
    link = format_html('<a href="{}">{}</a>', _address(dataset, key, filters), key)
    messages.success(request, format_html("{}: {}", said, link))
    queue = queries.queue(dataset, filters, key=key)
    if queue.after_decision is not None:
        return redirect(_address(dataset, queue.after_decision, filters))
    if queue.n == queue.n_reviewed:
        messages.success(request, _("Everything here is reviewed."))
    return redirect(_list_address(dataset, filters))


def _address(dataset: Dataset, key: str, filters: ContextFilter) -> str:
    return reverse("contexts:context", args=[dataset.slug, key]) + filters.suffix
