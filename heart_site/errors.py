"""What is answered when something goes wrong: a page for people, a problem for programs."""

import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import defaults

from access.api_http.errors import answer_problem
from heart_site.outages import API, answer_outage, is_outage

FIVE_MINUTES = 300


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer what cannot be a request."""
    if request.path_info.startswith(API):
        return answer_problem(request, 400, detail="This is no request that can be answered.")
    return defaults.bad_request(request, exception)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer what is not allowed."""
    if request.path_info.startswith(API):
        return answer_problem(request, 403)
    return defaults.permission_denied(request, exception)


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
