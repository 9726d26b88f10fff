"""The site's own pages: which studies there are, and what is answered when something goes wrong."""

import sys

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views import csrf, defaults
from django.views.decorators.http import require_safe

from access.api.errors import answer_problem, too_large_detail
from annotation.session import http as raters
from annotation.studies import queries as study_queries
from completions.writers import http as writers
from heart_site.middleware import API, UnstorableError, answer_outage, is_outage, most_bytes


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show the studies that visitors may judge in or read about."""
    return render(request, "home.html", {"studies": study_queries.public_studies()})


FIVE_MINUTES = 300
ABOUT_FORGERY = "CSRF "
"""How Django's reasons begin that are about the token or its cookie, and not the origin."""
OF_RATERS = frozenset(f"annotation:{name}" for name in ("submit", "skip", "report"))
OF_WRITERS = frozenset(f"completions:{name}" for name in ("dialogue", "draft", "skip"))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer what cannot be a request, or is too large for one."""
    page = request.resolver_match
    if page is not None and page.view_name in OF_RATERS and "HX-Request" in request.headers:
        return _say_beside_the_pair()
    if isinstance(exception, RequestDataTooBig):
        return _too_large(request)
    if request.path_info.startswith(API):
        is_known = isinstance(exception, UnstorableError)
        detail = str(exception) if is_known else "This is no request that can be answered."
        return answer_problem(request, 400, detail=detail)
    return defaults.bad_request(request, exception)


def _too_large(request: HttpRequest) -> HttpResponse:
    if request.path_info.startswith(API):
        return answer_problem(request, 413, detail=too_large_detail())
    has_files = request.content_type == "multipart/form-data"
    most = most_bytes(request) if has_files else settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    return render(request, "400.html", {"most_megabytes": most // 10**6}, status=413)


def _say_beside_the_pair() -> HttpResponse:
    """Say in place of the note that an answer is sent again: with this one that is in vain."""
    text = _(
        "This is too long or not readable, so it was not saved. Shorten it, and send it again."
    )
    note = format_html('<p id="trouble" class="notice error" role="alert">{}</p>', text)
    headers = {"HX-Retarget": "#trouble", "HX-Reswap": "outerHTML"}
    return HttpResponse(note, status=422, headers=headers)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer what is not allowed."""
    if request.path_info.startswith(API):
        return answer_problem(request, 403)
    return defaults.permission_denied(request, exception)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form without the token against forged ones; a text that people typed goes back.

    Not if the form came from another site, which could so have any text shown on ours. Django looks
    at that first: a reason about the token says that the origin was right or, without TLS and from
    a browser that names none, unknown. Then whoever posted reads their own words, escaped, in a
    field of their own.
    """
    page = request.resolver_match
    if page is not None and reason.startswith(ABOUT_FORGERY):
        if page.view_name in OF_RATERS:
            return raters.say_unsent(request, page.kwargs["study"])
        if page.view_name in OF_WRITERS:
            return writers.say_unsent(request)
    return csrf.csrf_failure(request, reason)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an unknown address."""
    if request.path_info.startswith(API):
        return answer_problem(request, 404, detail="There is nothing at this address.")
    return defaults.page_not_found(request, exception)


def too_many(request: HttpRequest, _exception: Exception | None = None) -> HttpResponse:
    """Answer more attempts to sign in than a person makes."""
    answer = render(request, "429.html", status=429)
    answer["Retry-After"] = str(FIVE_MINUTES)
    return answer


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer a fault of ours, without a word of what it is: the log has it, by its id.

    What went wrong is in hand: outages that a middleware met, and no view, come here, too.
    """
    if is_outage(sys.exception()):
        return answer_outage(request)
    if request.path_info.startswith(API):
        return answer_problem(request, 500, detail="The operator finds it by the request's id.")
    return defaults.server_error(request)
