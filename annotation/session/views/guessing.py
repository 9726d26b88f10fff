"""The last question, if the study asks it: who may have written what was judged."""

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation.choices import RaterState
from annotation.raters import entry_queries, services
from annotation.raters.visit import visit_time
from annotation.session import http
from annotation.session.blinded import Message
from annotation.session.entry_forms import Guesses, pairs_of
from annotation.session.http import RaterRequest, rater_known

SKIPPED = "heart_guess_skipped"
ASKED_IN = (RaterState.FINISHED, RaterState.STOPPED)


@require_http_methods(["GET", "HEAD", "POST"])
@rater_known
def guess(request: RaterRequest) -> HttpResponse:
    """Show a few judged messages, one by one and without their pairs; no answer is given away."""
    done = reverse("annotation:done", args=[request.page.slug])
    messages = _messages(request)
    if not messages:
        return http.go(request, done)
    form = Guesses(request.POST if request.method == "POST" else None, n_messages=len(messages))
    if not form.is_bound:
        context = {"study": request.page, "asked": pairs_of(form, messages)}
        return http.render_fragment(request, "annotation/_guess.html", context)
    if "skip" not in request.POST and form.is_valid():
        services.record_guesses(
            rater=request.rater, guesses=form.guesses(), now=visit_time(request)
        )
    return _not_again(http.SeeOther(done), request)


def is_due(request: RaterRequest) -> bool:
    """Say whether the rater is still to be asked: once, at the end of a session they finished."""
    if request.rater.state != RaterState.FINISHED or SKIPPED in request.COOKIES:
        return False
    return bool(_messages(request))


def _messages(request: RaterRequest) -> list[Message]:
    rater = request.rater
    if rater.state not in ASKED_IN or entry_queries.has_guessed(rater):
        return []
    return [Message.of(completion) for completion in entry_queries.messages_to_guess(rater)]


def _not_again(response: HttpResponse, request: RaterRequest) -> HttpResponse:
    """Let the browser alone remember that the question was passed by."""
    response.set_cookie(
        SKIPPED,
        "1",
        max_age=http.COOKIE_SECONDS,
        path=reverse("annotation:entry", args=[request.page.slug]),
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )
    return response
