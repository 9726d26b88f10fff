"""Every error under /api/v1/ in one shape."""

from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.http import Http404, HttpRequest, JsonResponse
from rest_framework import exceptions, status
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import exception_handler

from access.api.problems import CONTENT_TYPE, pointers, problem

ID = "HEART_REQUEST_ID"


class NoFitError(exceptions.NotFound):
    """Nothing was fitted yet."""

    default_code = "no_fit"


class UnknownFilterError(exceptions.APIException):
    """A parameter has a value that does not exist."""

    status_code = status.HTTP_400_BAD_REQUEST
    default_code = "unknown_filter"


class ConflictError(exceptions.APIException):
    """What was sent does not fit what is there already."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class KeyReusedError(exceptions.APIException):
    """The key of a request belongs to another one."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_code = "key_reused"
    default_detail = (
        "This Idempotency-Key was used within a day for another body: choose a new one."
    )


class TooLargeError(exceptions.APIException):
    """Too much was sent at once."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """Answer what a view of the API raised; what nobody foresaw is Django's to log."""
    if isinstance(error, Http404):
        error = exceptions.NotFound(str(error) or None)
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    elif isinstance(error, RequestDataTooBig):
        error = TooLargeError(too_large_detail())
    answer = exception_handler(error, context)
    if answer is None or not isinstance(error, exceptions.APIException):
        return None
    request = context["request"]
    # An error is JSON, whatever was asked for.
    request.accepted_renderer, request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
    answer.data = _shaped(error, str(request.META.get(ID, "")))
    answer.content_type = CONTENT_TYPE
    return answer


def too_large_detail() -> str:
    """Say how many bytes a request may have."""
    return f"At most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,} bytes at once: send smaller batches."


def answer_problem(request: HttpRequest, http_status: int, *, detail: str = "") -> JsonResponse:
    """Answer what went wrong outside the views of the API, as for an unknown address."""
    shape = problem(http_status, detail=detail, request_id=request.META.get(ID, ""))
    return JsonResponse(shape, status=http_status, content_type=CONTENT_TYPE)


def _shaped(error: exceptions.APIException, request_id: str) -> dict[str, object]:
    if isinstance(error, exceptions.ValidationError):
        return problem(
            error.status_code,
            code="invalid",
            detail="Some of what was sent is not valid.",
            errors=list(pointers(error.detail)),
            request_id=request_id,
        )
    codes = error.get_codes()
    return problem(
        error.status_code,
        code=codes if isinstance(codes, str) else error.default_code,
        detail=str(error.detail),
        request_id=request_id,
    )
