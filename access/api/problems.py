"""The one shape of every error of the API: a problem of RFC 9457."""

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus

CONTENT_TYPE = "application/problem+json"
TYPES = "/api/v1/problems/#"
TITLES = {
    "invalid": "What was sent is not valid",
    "parse_error": "What was sent cannot be read",
    "unknown_filter": "A parameter has a value that does not exist",
    "not_authenticated": "This needs a token",
    "authentication_failed": "The token is not valid",
    "permission_denied": "The token or the role is not enough for this",
    "not_found": "There is no such thing",
    "no_fit": "There are no ratings of these judgments yet",
    "method_not_allowed": "This address does not take that method",
    "not_acceptable": "The answer exists in no such form",
    "unsupported_media_type": "What was sent has a form that is not taken",
    "throttled": "Too many requests in a minute",
    "conflict": "It does not fit what is there already",
    "key_reused": "The Idempotency-Key belongs to another request",
    "too_large": "Too much at once",
    "unavailable": "The site is away for a moment",
    "error": "Something went wrong here",
}
"""What each code means, in words; a code that is not here has the name of its status."""

_CODES = {
    HTTPStatus.BAD_REQUEST: "invalid",
    HTTPStatus.FORBIDDEN: "permission_denied",
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "too_large",
    HTTPStatus.SERVICE_UNAVAILABLE: "unavailable",
}


def problem(
    status: int,
    *,
    code: str = "",
    detail: str = "",
    request_id: str = "",
    errors: Sequence[Mapping[str, str]] = (),
) -> dict[str, object]:
    """Return an error in the one shape.

    Parameters
    ----------
    status
        The status of the answer.
    code
        For programs; without one, that of the status.
    detail
        For people: what is wrong with this request.
    request_id
        By which the operator finds the request in the log.
    errors
        Of what was sent: each ``pointer`` (RFC 6901) and ``detail``.
    """
    code = code or _CODES.get(HTTPStatus(status), "error")
    shape: dict[str, object] = {
        "type": f"{TYPES}{code}",
        "title": TITLES.get(code, HTTPStatus(status).phrase),
        "status": status,
        "code": code,
        "detail": detail,
    }
    if errors:
        shape["errors"] = list(errors)
    if request_id:
        shape["request_id"] = request_id
    return shape


def pointers(found: object, path: str = "") -> Iterator[dict[str, str]]:
    """Yield each message of a nested account of errors, with a pointer to what it is about."""
    if isinstance(found, Mapping):
        for name, inner in found.items():
            yield from pointers(inner, path if name == "non_field_errors" else _at(path, str(name)))
    elif isinstance(found, Sequence) and not isinstance(found, str):
        for number, inner in enumerate(found):
            is_row = isinstance(inner, Mapping | list)
            yield from pointers(inner, _at(path, str(number)) if is_row else path)
    else:
        yield {"pointer": path, "detail": str(found)}


def _at(path: str, name: str) -> str:
    return f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
