"""How the pages of a talk look: the text box, what was sent, and what was kept instead."""

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
    _("This talk needs no more messages"),
    _(
        "It was kept for you for two hours and then given back, and meanwhile it has all that it "
        "needs. We are sorry about your effort; here is what you wrote."
    ),
)
FROZEN = Refusal(
    _("No more messages are taken"),
    _(
        "The collection is closed: you cannot send or change a message now. What you sent is "
        "safe. Thank you for it. What you wrote here is kept:"
    ),
)
OVER = Refusal(
    _("Your trial is over"),
    _("This was one of its talks, so nothing more is taken for it. What you wrote is kept:"),
)
CLOSED = Refusal(
    _("This message stays as it was sent"),
    _(
        "People compare it with others already, or somebody who read it has decided about it. So "
        "it cannot be changed any more. What you wrote now is kept:"
    ),
)
OUTDATED = Refusal(
    _("A newer version was sent meanwhile"),
    _(
        "You sent this message from another page, so this draft was not saved over it. Here is "
        "what you wrote; copy it if you want to go on with it."
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
    """Show the talk with the text box; with what is to be mended, if ``form`` was posted."""
    form = form or forms.MessageForm(initial={"text": task.draft})
    form.lay_out(language=task.talk.language)
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
    return http.render_fragment(request, "completions/_talk.html", context, status=status)


def sent(request: WriterRequest, task: blinded.Task) -> HttpResponse:
    """Show a message that was sent in its talk, and where it stands."""
    context = {"task": task, "n_waiting": desk_queries.desk(request.writer).n_waiting}
    return http.render_fragment(request, "completions/_sent.html", context)


def kept(request: WriterRequest, refusal: Refusal, *, text: str) -> HttpResponse:
    """Say why a text could not be taken, and give it back."""
    context = {"refusal": refusal, "heading": refusal.heading, "text": text}
    return http.render_fragment(request, "completions/_kept.html", context, status=409)
