"""A dialogue and the message for it: shown, kept as a draft, sent, changed, skipped."""

import uuid
from collections.abc import Mapping, Sequence

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from completions.choices import MessageState
from completions.models import Message, WritingLease
from completions.writers import blinded, forms, http, queries
from completions.writers.http import WriterRequest, writer_required
from completions.writers.presubmit_checks import Concern
from completions.writers.services import leasing, sending

Refusal = tuple[Promise, Promise]
"""Why a text could not be taken, as its writer reads it above the text: heading and lead."""

TAKEN = (
    _("This conversation needs no more replies"),
    _(
        "Your two hours ran out and others have filled it since. We’re sorry your work wasn’t "
        "used; here is what you wrote."
    ),
)
FROZEN = (
    _("The collection is closed"),
    _(
        "You can’t send or change a reply now. What you sent is saved; thank you. This is what you "
        "wrote here:"
    ),
)
OVER = (
    _("Your trial is over"),
    _("This conversation was part of it, so no more replies are taken. This is what you wrote:"),
)
CLOSED = (
    _("This reply can’t be changed any more"),
    _(
        "People are comparing it with others already, or a reviewer has decided about it. This is "
        "what you wrote now:"
    ),
)
OUTDATED = (
    _("A newer version was sent meanwhile"),
    _(
        "You sent this reply from another page, so this draft was not saved over it. Here is what "
        "you wrote; copy it if you want to keep it."
    ),
)
REFUSALS: Mapping[type[Exception], Refusal] = {
    leasing.ContextTakenError: TAKEN,
    leasing.DatasetFrozenError: FROZEN,
    sending.MessageClosedError: CLOSED,
    sending.DraftOutdatedError: OUTDATED,
    sending.TrialOverError: OVER,
}
"""What a service raises when nothing can be mended, and how that is said."""


def composer(
    request: WriterRequest,
    task: blinded.Task,
    *,
    form: forms.MessageForm | None = None,
    typed: sending.Typed | None = None,
    concerns: Sequence[Concern] = (),
) -> HttpResponse:
    """Show the dialogue with the text box; with what is to be mended, if ``form`` was posted."""
    form = form or forms.MessageForm(initial={"text": task.typed.text})
    form.lay_out(language=task.dialogue.language)
    context = {
        "task": task,
        "form": form,
        "counts": blinded.counts_of(form["text"].value() or ""),
        "signals": typed or task.typed,
        "concerns": concerns,
        "skip_reasons": forms.SKIP_REASONS,
    }
    is_refused = bool(form.errors or concerns)
    status = 422 if is_refused else 200
    return http.render_fragment(request, "completions/_writing.html", context, status=status)


def sent(request: WriterRequest, task: blinded.Task) -> HttpResponse:
    """Show a message that was sent in its dialogue, and where it stands."""
    context = {"task": task, "n_waiting": queries.desk_counts(request.writer)["n_waiting"]}
    return http.render_fragment(request, "completions/_sent.html", context)


def kept(request: WriterRequest, refusal: Refusal, *, text: str) -> HttpResponse:
    """Say why a text could not be taken, and give it back."""
    heading, lead = refusal
    context = {"heading": heading, "lead": lead, "text": text}
    return http.render_fragment(request, "completions/_kept.html", context, status=409)


@require_safe
@writer_required
def next_dialogue(request: WriterRequest) -> HttpResponse:
    """Find the dialogue that this writer should write for now, and go to its own address."""
    try:
        lease = leasing.lease_next_context(writer=request.writer, now=timezone.now())
    except leasing.DatasetFrozenError:
        return http.go(request, reverse("completions:desk"))
    if lease is None:
        return http.render_fragment(request, "completions/_nothing.html", {})
    return http.go(request, reverse("completions:dialogue", args=[lease.token]))


@require_http_methods(["GET", "HEAD", "POST"])
@writer_required
def dialogue(request: WriterRequest, token: uuid.UUID) -> HttpResponse:
    """Show a dialogue with the text box, or what was sent for it; take a message that is posted."""
    lease = _lease(request, token)
    if request.method == "POST":
        return _send(request, lease)
    return _show_dialogue(request, lease)


@require_safe
@writer_required
def change(request: WriterRequest, token: uuid.UUID) -> HttpResponse:
    """Show a message that was sent in the text box again, while it may be changed."""
    if not queries.is_writing(request.writer):
        raise leasing.WriterNotActiveError
    task = blinded.Task.from_lease(_lease(request, token), writer=request.writer)
    if task.sent is None or not task.sent.can_change:
        return http.go(request, reverse("completions:dialogue", args=[token]))
    return composer(request, task)


@require_POST
@writer_required
def save_draft(request: WriterRequest, token: uuid.UUID) -> HttpResponse:
    """Keep what is typed so far; a script gets no content, a browser the page again."""
    typed = forms.typed(request.POST)
    try:
        sending.save_draft(token=token, writer=request.writer, typed=typed)
    except sending.DraftOutdatedError:
        return kept(request, OUTDATED, text=typed.text)
    if request.htmx:
        return HttpResponse(status=204)
    page = "completions:change" if typed.seen else "completions:dialogue"
    return http.SeeOther(reverse(page, args=[token]))


@require_POST
@writer_required
def skip(request: WriterRequest, token: uuid.UUID) -> HttpResponse:
    """Give the dialogue back, with the reason given, and go on to the next."""
    form = forms.Skip(request.POST)
    if not form.is_valid():
        return http.go(request, reverse("completions:dialogue", args=[token]))
    leasing.skip_context(
        token=token,
        writer=request.writer,
        reason=form.cleaned_data["reason"],
        now=timezone.now(),
    )
    return http.go(request, reverse("completions:next"))


def _lease(request: WriterRequest, token: uuid.UUID) -> WritingLease:
    lease = queries.lease_of(request.writer, token=token)
    if lease is None:
        raise leasing.WritingLeaseNotFoundError
    return lease


def _show_dialogue(request: WriterRequest, lease: WritingLease) -> HttpResponse:
    """Show the text box, or the message that was sent; a message that came back, in the box."""
    if not queries.is_writing(request.writer):
        raise leasing.WriterNotActiveError
    task = blinded.Task.from_lease(lease, writer=request.writer)
    if task.sent is not None and not task.sent.is_returned:
        return sent(request, task)
    if task.sent is None and request.writer.dataset.frozen_at is not None:
        return kept(request, FROZEN, text=lease.draft)
    if task.sent is None and queries.is_trial_over(lease, writer=request.writer):
        return kept(request, OVER, text=lease.draft)
    if task.sent is None and queries.is_taken(lease):
        return kept(request, TAKEN, text=lease.draft)
    return composer(request, task)


def _send(request: WriterRequest, lease: WritingLease) -> HttpResponse:
    """Take the posted message; what cannot be taken stays in the box and as the draft."""
    form, typed = forms.MessageForm(request.POST), forms.typed(request.POST)
    concerns: Sequence[Concern] = ()
    try:
        message = _taken(request, lease, form, typed)
    except sending.LookAgainError as asked:
        concerns = asked.findings
    except tuple(REFUSALS) as refusal:
        return kept(request, REFUSALS[type(refusal)], text=typed.text)
    else:
        if message is not None and message.state != MessageState.RETURNED:
            return http.go(request, reverse("completions:dialogue", args=[lease.token]))
        if message is not None:
            form.say_unchanged()
    task = blinded.Task.from_lease(lease, writer=request.writer)
    return composer(request, task, form=form, typed=typed, concerns=concerns)


def _taken(
    request: WriterRequest, lease: WritingLease, form: forms.MessageForm, typed: sending.Typed
) -> Message | None:
    """Send what is posted; what is no message yet is kept as the draft alone."""
    if not form.is_valid():
        sending.save_draft(token=lease.token, writer=request.writer, typed=typed)
        return None
    return sending.send_message(
        token=lease.token,
        writer=request.writer,
        typed=typed,
        is_own_words=form.cleaned_data["is_own_words"],
        has_looked_again=form.cleaned_data["has_looked_again"],
        now=timezone.now(),
    )
