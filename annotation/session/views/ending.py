"""Pauses and ends of a session, withdrawal of raters and writers, and Prolific's webhook."""

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from access.roles import StaffRequest
from annotation.choices import Platform, RaterState
from annotation.judging.services import leasing
from annotation.raters import entry_queries, webhooks
from annotation.raters.services import questions, submissions, withdrawing
from annotation.raters.visit_time import visit_time
from annotation.session import http
from annotation.session.blinded import Message
from annotation.session.endings import Ending
from annotation.session.forms import Guesses, Withdrawal, WriterWithdrawal
from annotation.session.http import RaterRequest, rater_known, rater_page
from annotation.studies import http as study_http
from annotation.studies import queries as study_queries
from completions.choices import WriterState
from completions.contexts.console_http import or_404, owners_act
from completions.models import Dataset, Writer
from completions.writers import http as writers
from completions.writers import pool_queries, queries
from completions.writers.http import writer_page


@require_safe
@rater_page
def help_lines(request: HttpRequest, study: str) -> HttpResponse:
    """Show where to find somebody to talk to; open to everyone."""
    page = http.study_page(request, study)
    if not page.help_lines:
        raise Http404
    rater = http.recognised(request, study_http.study_or_404(study))
    has_pair = rater is not None and not Ending.of_rater(rater).is_over
    context = {"study": page, "has_pair": has_pair}
    return http.render_fragment(request, "annotation/_help.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@rater_known
def take_break(request: RaterRequest) -> HttpResponse:
    """Stop the clock of the open pair, and say what is saved and how to come back."""
    if is_over(request):
        return _to_last_page(request)
    if request.method == "POST":
        leasing.pause_judging(rater=request.rater, now=visit_time(request))
        return http.go(request, "take_break", request.page.slug)
    context = {
        "study": request.page,
        "done": study_queries.n_session_answers(request.rater),
        "is_timed": request.rater.platform != Platform.GUEST,
        "is_timing": study_queries.is_being_timed(request.rater),
        "resume_url": _resume_url(request),
    }
    return http.render_fragment(request, "annotation/_break.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@rater_known
def stop(request: RaterRequest) -> HttpResponse:
    """Ask once, then end the rater's part."""
    if is_over(request):
        return _to_last_page(request)
    if request.method == "POST":
        leasing.stop_judging(rater=request.rater, now=visit_time(request))
        return _to_last_page(request)
    context = {
        "study": request.page,
        "ending": Ending.of_rater(request.rater),
        "is_guest": request.rater.platform == Platform.GUEST,
        "is_closed": request.rater.study.is_closed,
    }
    return http.render_fragment(request, "annotation/_stop.html", context)


@require_POST
@rater_known
def finish(request: RaterRequest) -> HttpResponse:
    """End the part of a rater for whom no pair is left."""
    leasing.finish_with_nothing_left(rater=request.rater, now=visit_time(request))
    return http.go(request, "judge", request.page.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@rater_known
def withdraw(request: RaterRequest) -> HttpResponse:
    """Ask once what is to become of the answers, then remove what links them to a person."""
    ending = Ending.of_rater(request.rater)
    if not ending.can_withdraw:
        return _to_last_page(request)
    form = Withdrawal(request.POST if request.method == "POST" else None)
    if form.is_valid():
        keep = form.cleaned_data["answers"] == "keep"
        withdrawing.withdraw_rater(rater=request.rater, now=visit_time(request), keep_answers=keep)
        return _to_last_page(request)
    context = {"study": request.page, "ending": ending, "form": form}
    status = 422 if form.is_bound else 200
    return http.render_fragment(request, "annotation/_withdraw.html", context, status=status)


@require_safe
@rater_known
def done(request: RaterRequest) -> HttpResponse:
    """Thank a rater whose part is over; send anybody else back to their pairs."""
    if not is_over(request):
        return http.go(request, "judge", request.page.slug)
    return _show_last_page(request)


def show_end(request: RaterRequest) -> HttpResponse:
    """Show the one last page; htmx is sent there, for the whole page changes."""
    if request.htmx:
        return http.go(request, "judge", request.page.slug)
    if is_due(request):
        return http.go(request, "guess", request.page.slug)
    return _show_last_page(request)


def _show_last_page(request: RaterRequest) -> HttpResponse:
    ending = Ending.of_rater(request.rater)
    if ending.code:
        submissions.give_code(rater=request.rater, code=ending.code, now=visit_time(request))
    context = {
        "study": request.page,
        "ending": ending,
        "resume_url": "" if ending.is_over else _resume_url(request),
    }
    return http.render_fragment(request, "annotation/_done.html", context)


def _to_last_page(request: RaterRequest) -> HttpResponse:
    return http.go(request, "done", request.page.slug)


def is_over(request: RaterRequest) -> bool:
    """Say whether the rater's part has ended, or they are excluded."""
    rater = request.rater
    return rater.state != RaterState.ACTIVE or study_queries.is_excluded(rater)


def _resume_url(request: RaterRequest) -> str:
    """Return the rater's private link: the way back in from another browser."""
    link = http.credential(request.rater, use="link")
    path = reverse("annotation:resume", args=[request.page.slug, link])
    return request.build_absolute_uri(path)


SKIPPED = "heart_guess_skipped"
ASKED_IN = (RaterState.FINISHED, RaterState.STOPPED)


@require_http_methods(["GET", "HEAD", "POST"])
@rater_known
def guess(request: RaterRequest) -> HttpResponse:
    """Show a few judged messages, one by one and without their pairs; no answer is given away."""
    shown = _messages(request)
    if not shown:
        return _to_last_page(request)
    form = Guesses(request.POST if request.method == "POST" else None, places=shown)
    if not form.is_bound:
        context = {"study": request.page, "asked": list(zip(shown.values(), form, strict=True))}
        return http.render_fragment(request, "annotation/_guess.html", context)
    if "skip" not in request.POST and form.is_valid():
        questions.record_guesses(
            rater=request.rater, guesses=form.guesses(), now=visit_time(request)
        )
    done = http.SeeOther(reverse("annotation:done", args=[request.page.slug]))
    # The browser alone remembers that the question was passed by.
    return http.keep_cookie(done, request, SKIPPED, "1", study=request.page.slug)


def is_due(request: RaterRequest) -> bool:
    """Say whether the rater is still to be asked: once, at the end of a session they finished."""
    if request.rater.state != RaterState.FINISHED or SKIPPED in request.COOKIES:
        return False
    return bool(_messages(request))


def _messages(request: RaterRequest) -> dict[int, Message]:
    rater = request.rater
    if rater.state not in ASKED_IN or rater.source_guesses.exists():
        return {}
    return {place: Message.of(one) for place, one in entry_queries.messages_to_guess(rater).items()}


@require_http_methods(["GET", "HEAD", "POST"])
@writer_page
def withdraw_writer(request: HttpRequest) -> HttpResponse:
    """Ask once, with what each choice means, then do as the writer says.

    Open to everybody whom the browser knows as a writer: also to who has left, was not admitted,
    or withdrew before and kept the texts.
    """
    writer = writers.recognised(request)
    if writer is None:
        return writers.say_who_are_you(request)
    if _is_erased(writer):
        return writers.say_not_writing(request, writer)
    form = WriterWithdrawal(request.POST if request.method == "POST" else None)
    if form.is_valid():
        keep_texts = form.cleaned_data["texts"] == "keep"
        withdrawing.withdraw_writer(writer=writer, keep_texts=keep_texts, now=timezone.now())
        writer.refresh_from_db()
        return writers.say_not_writing(request, writer, status=200)
    context = {
        "form": form,
        "has_withdrawn": writer.state == WriterState.WITHDRAWN,
        "has_desk": writer.state in queries.MAY_COME_IN,
    }
    status = 422 if form.is_bound else 200
    return writers.render_fragment(
        request, "annotation/_withdraw_writer.html", context, status=status
    )


@require_http_methods(["GET", "HEAD", "POST"])
@owners_act
def withdraw_writer_for(request: StaffRequest, dataset: Dataset, code: str) -> HttpResponse:
    """Do the same for a writer who asked an admin for it: who lost the link, or never had one."""
    writer = or_404(pool_queries.writer_of(dataset, code))
    form = WriterWithdrawal(request.POST if request.method == "POST" else None)
    if form.is_valid():
        keep_texts = form.cleaned_data["texts"] == "keep"
        withdrawing.withdraw_writer(
            writer=writer,
            keep_texts=keep_texts,
            now=timezone.now(),
            by=request.user,
        )
        messages.success(request, _("%(code)s has withdrawn.") % {"code": code})
    elif not _is_erased(writer):
        context = {
            "dataset": dataset,
            "writer": writer,
            "form": form,
            "has_withdrawn": writer.state == WriterState.WITHDRAWN,
        }
        status = 422 if form.is_bound else 200
        return render(request, "console/writing/withdraw.html", context, status=status)
    return redirect("writing:writer", dataset.slug, code)


def _is_erased(writer: Writer) -> bool:
    """Say whether nothing is left to decide about."""
    return writer.state == WriterState.WITHDRAWN and not writer.texts_kept


@csrf_exempt  # the signature says who it comes from
@require_POST
def prolific(request: HttpRequest, study: str) -> HttpResponse:
    """Take in an event of Prolific: 403 if it is not signed, 400 if it is none, else 204."""
    secret = settings.HEART_PROLIFIC_SECRET
    if not secret:
        raise Http404
    found = study_http.study_or_404(study)
    now = visit_time(request)
    try:
        event = webhooks.read_event(request.body, request.headers, secret=secret, now=now)
    except webhooks.SignatureError:
        return HttpResponse("not signed", status=403, content_type="text/plain")
    except webhooks.WebhookError as error:
        return HttpResponse(str(error), status=400, content_type="text/plain")
    submissions.take_event(study=found, event=event, now=now)
    return HttpResponse(status=204)
