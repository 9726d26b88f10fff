"""How the pages of a dialogue look: the text box, what was sent, and what was kept instead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from completions.writers import blinded, desk_queries, forms, http, services
from completions.writers.http import WriterRequest
from completions.writers.presubmit_checks import Concern


@dataclass(frozen=True)
class Refusal:
    """Why a text could not be taken, as its writer reads it above the text."""

    heading: Promise
    lead: Promise


TAKEN = Refusal(
    _("This conversation needs no more replies"),
    _(
        "Your two hours ran out and others have filled it since. We’re sorry your work wasn’t "
        "used; here is what you wrote."
    ),
)
FROZEN = Refusal(
    _("The collection is closed"),
    _(
        "You can’t send or change a reply now. What you sent is saved; thank you. This is what you "
        "wrote here:"
    ),
)
OVER = Refusal(
    _("Your trial is over"),
    _("This conversation was part of it, so no more replies are taken. This is what you wrote:"),
)
CLOSED = Refusal(
    _("This reply can’t be changed any more"),
    _(
        "People are comparing it with others already, or a reviewer has decided about it. This is "
        "what you wrote now:"
    ),
)
OUTDATED = Refusal(
    _("A newer version was sent meanwhile"),
    _(
        "You sent this reply from another page, so this draft was not saved over it. Here is what "
        "you wrote; copy it if you want to keep it."
    ),
)
REFUSALS: Mapping[type[Exception], Refusal] = {
    services.ContextTakenError: TAKEN,
    services.DatasetFrozenError: FROZEN,
    services.MessageClosedError: CLOSED,
    services.DraftOutdatedError: OUTDATED,
    services.TrialOverError: OVER,
}
"""What a service raises when nothing can be mended, and how that is said."""


def composer(
    request: WriterRequest,
    task: blinded.Task,
    *,
    form: forms.MessageForm | None = None,
    typed: services.Typed | None = None,
    concerns: Sequence[Concern] = (),
) -> HttpResponse:
    """Show the dialogue with the text box; with what is to be mended, if ``form`` was posted."""
    form = form or forms.MessageForm(initial={"text": task.draft})
    form.lay_out(language=task.dialogue.language)
    context = {
        "task": task,
        "form": form,
        "counts": blinded.Counts.of(form["text"].value() or ""),
        "signals": typed or task.signals,
        "concerns": concerns,
        "skip_reasons": forms.SKIP_REASONS,
    }
    is_refused = bool(form.errors or concerns)
    status = 422 if is_refused else 200
    return http.render_fragment(request, "completions/_writing.html", context, status=status)


def sent(request: WriterRequest, task: blinded.Task) -> HttpResponse:
    """Show a message that was sent in its dialogue, and where it stands."""
    context = {"task": task, "n_waiting": desk_queries.desk(request.writer).n_waiting}
    return http.render_fragment(request, "completions/_sent.html", context)


def kept(request: WriterRequest, refusal: Refusal, *, text: str) -> HttpResponse:
    """Say why a text could not be taken, and give it back."""
    context = {"refusal": refusal, "heading": refusal.heading, "text": text}
    return http.render_fragment(request, "completions/_kept.html", context, status=409)
