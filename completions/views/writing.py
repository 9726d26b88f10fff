"""A talk and the message for it: shown, kept as a draft, sent, skipped."""

import uuid

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from completions import blinded, http, selectors, services, writing_selectors
from completions.choices import LeaseOutcome
from completions.http import WriterRequest, writer_required
from completions.models import WritingLease
from completions.writer_forms import writing as forms


@require_GET
@writer_required
def next_talk(request: WriterRequest) -> HttpResponse:
    """Find the talk that this writer should write for now, and go to its own address."""
    lease = services.lease_next_context(writer=request.writer, now=timezone.now())
    if lease is None:
        return http.render_fragment(request, "completions/_nothing.html", {})
    return http.go(request, reverse("completions:talk", args=[lease.token]))


@require_http_methods(["GET", "HEAD", "POST"])
@writer_required
def talk(request: WriterRequest, token: uuid.UUID) -> HttpResponse:
    """Show a talk with the text box, or what was sent for it; take a message that is posted."""
    lease = writing_selectors.lease_of(request.writer, token=token)
    if lease is None:
        raise services.WritingLeaseNotFoundError
    if request.method == "POST":
        return _send(request, lease)
    return _show_talk(request, lease)


@require_POST
@writer_required
def save_draft(request: WriterRequest, token: uuid.UUID) -> HttpResponse:
    """Keep what is typed so far; a script gets no content, a browser the page again."""
    typed = forms.typed(request.POST)
    services.save_draft(token=token, writer=request.writer, typed=typed)
    if request.htmx:
        return HttpResponse(status=204)
    return http.SeeOther(reverse("completions:talk", args=[token]))


@require_POST
@writer_required
def skip(request: WriterRequest, token: uuid.UUID) -> HttpResponse:
    """Give the talk back, with the reason given, and go on to the next."""
    form = forms.Skip(request.POST)
    if not form.is_valid():
        return http.go(request, reverse("completions:talk", args=[token]))
    services.skip_context(
        token=token,
        writer=request.writer,
        reason=form.cleaned_data["reason"],
        now=timezone.now(),
    )
    return http.go(request, reverse("completions:next"))


def _show_talk(request: WriterRequest, lease: WritingLease) -> HttpResponse:
    if not selectors.is_writing(request.writer):
        raise services.WriterNotActiveError
    if lease.outcome == LeaseOutcome.SUBMITTED:
        return _show_sent(request, lease)
    if lease.closed_at is not None and lease.context.slots_left == 0:
        return _say_taken(request, lease.draft)
    return _show(request, lease, forms.Message(initial={"text": lease.draft}))


def _send(request: WriterRequest, lease: WritingLease) -> HttpResponse:
    """Store the posted message; what cannot be accepted stays in the box and as the draft."""
    form = forms.Message(request.POST)
    typed = forms.typed(request.POST)
    if not form.is_valid():
        services.save_draft(token=lease.token, writer=request.writer, typed=typed)
        return _show(request, lease, form, status=422)
    try:
        services.send_message(
            token=lease.token,
            writer=request.writer,
            typed=typed,
            is_own_words=form.cleaned_data["is_own_words"],
            has_looked_again=form.cleaned_data["has_looked_again"],
            now=timezone.now(),
        )
    except services.LookAgainError:
        return _show(request, lease, form, status=422)
    except services.ContextTakenError:
        return _say_taken(request, form.cleaned_data["text"])
    return http.go(request, reverse("completions:talk", args=[lease.token]))


def _show(
    request: WriterRequest, lease: WritingLease, form: forms.Message, *, status: int = 200
) -> HttpResponse:
    context = {
        "task": blinded.Task.from_lease(lease),
        "form": form,
        "counts": blinded.Counts.of(form["text"].value() or ""),
        "skip_reasons": forms.SKIP_REASONS,
    }
    return http.render_fragment(request, "completions/_talk.html", context, status=status)


def _show_sent(request: WriterRequest, lease: WritingLease) -> HttpResponse:
    context = {
        "task": blinded.Task.from_lease(lease),
        "text": writing_selectors.text_sent(lease),
        "n_waiting": selectors.desk(request.writer).n_waiting,
    }
    return http.render_fragment(request, "completions/_sent.html", context)


def _say_taken(request: WriterRequest, text: str) -> HttpResponse:
    context = {"text": text}
    return http.render_fragment(request, "completions/_taken.html", context, status=409)
