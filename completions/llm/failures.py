"""What LiteLLM raises, told apart by what its provider said, and how long it wants to wait."""

import json
import logging
import math
import os
import re
import time
import traceback
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from completions.llm.exchange import (
    CONTENT_FILTERED,
    PermanentError,
    ProviderError,
    TransientError,
    UnexpectedError,
)

logger = logging.getLogger(__name__)

_PERMANENT_KINDS = {
    400: "bad_request",
    401: "authentication",
    402: "payment",
    403: "forbidden",
    404: "not_found",
    422: "bad_request",
}
_TRANSIENT_KINDS = {200: "broken_body", 408: "timeout", 425: "too_early", 429: "rate_limited"}
_REDIRECTIONS = range(300, 400)
_FIRST_SERVER_ERROR = 500
_CLIENTS = frozenset({"aiohttp", "httpcore", "httpx"})

_PAYMENT = re.compile(
    r"insufficient[_ ](?:quota|balance|credits?|funds)|credit balance is too low"
    r"|exceeded your current quota, please check your plan and billing"
    r"|billing[_ ](?:hard[_ ]limit|not[_ ]active)|check your billing|payment[_ ]required"
    r"|requires more credits|monthly (?:included credits|spending limit)|\bArrearage\b"
    r"|account is not in good standing|ReadOnlyDisabledSubscription",
    re.IGNORECASE,
)
_GOOGLES_LIMIT = re.compile(r"retryDelay|googleapis|ai\.google")
"""Google says of a limit by the minute what OpenAI says of an empty account."""
_FILTERED = re.compile(
    r"content[_ ]?filter|content management policy|ResponsibleAIPolicyViolation"
    r"|content[_ ]policy[_ ]violation|data_?inspection_?failed|Content Exists Risk"
    r"|input was flagged|moderation_blocked|our safety system|violates? (?:\w+ ){0,2}usage"
    r"|\bPROHIBITED_CONTENT\b|\bblockReason\b|inappropriate content|\u4e0d\u5b89\u5168",
    re.IGNORECASE,
)
_UNREADABLE = re.compile(
    r"Error converting to valid response block|Empty or invalid response from LLM endpoint"
    r"|provider returned 'choices' that is not a list|Invalid response object|JSONDecodeError"
    r"|Unterminated string starting|Expecting (?:value|property name|['\"])"
    r"|Error in response object"
)
"""LiteLLM blames the request, or the server, for an answer that it cannot read."""
_NO_KEY = re.compile(r"missing credentials|api[_ ]key", re.IGNORECASE)
_PARAMETER = re.compile(
    r"(?:unsupported|unknown|unrecognized|invalid)(?: request)?"
    r" (?:parameter|argument|value)s?(?: supplied)?:? ['\"`]?(?P<named>[a-z_][\w.]{1,60})"
    r"|(?P<extra>[a-z_][\w.]{1,60}): extra (?:inputs|fields) (?:are )?not permitted"
    r"|['\"`](?P<quoted>[a-z_][\w.]{1,60})['\"`] (?:is |are )?(?:not supported|deprecated)"
    r"|(?:support|keyword argument|Unknown name):? ['\"`](?P<unknown>[a-z_][\w.]{1,60})",
    re.IGNORECASE,
)
_SCHEMA = re.compile(r"response_format|json_schema|json_object|output_format|structured output")
_SECRET = ("_KEY", "_SECRET", "_TOKEN", "_PASSWORD")
_SHORTEST_SECRET = 8


def classified(error: Exception) -> ProviderError:
    """Turn what was raised while a model was asked into one of our errors, by its kind.

    What is neither the provider's nor the network's doing has the kind ``unexpected``: it fails
    this call alone, with the name of its class.
    """
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        return _without_status(error)
    if type(error).__name__ == "MidStreamFallbackError":
        return _broken_stream(error)
    detail = _detail(error)
    if (mislabelled := _mislabelled(error, detail)) is not None:
        return mislabelled
    if status in _TRANSIENT_KINDS or status >= _FIRST_SERVER_ERROR:
        kind = _TRANSIENT_KINDS.get(status, "server_error")
        return TransientError(detail, kind=kind, retry_after_s=_retry_after(error))
    kind = _PERMANENT_KINDS.get(status, f"status_{status}")
    if kind == "bad_request" and (name := _refused_parameter(error)):
        detail = f"The provider refuses the parameter {name}. {detail}"
    return PermanentError(detail, kind=kind)


def as_error(error: Exception) -> ProviderError:
    """Return an error of ours for whatever was raised; a bug's place is logged, never its words.

    What an exception says may quote the dialogue. LiteLLM wraps those of ours that it meets.
    """
    ours = (one for one in _behind(error) if isinstance(one, ProviderError))
    found = next(ours, None) or classified(error)
    if isinstance(found, UnexpectedError):
        places = "".join(traceback.format_tb(error.__traceback__))
        logger.error("Asking a model raised %s:\n%s", type(error).__name__, places)
    return found


def refuses_schema(error: ProviderError) -> bool:
    """Say whether a provider refuses the way in which it was asked for JSON."""
    return error.kind == "bad_request" and _SCHEMA.search(str(error)) is not None


def lacks_key(error: Exception) -> bool:
    """Say whether an error that LiteLLM calls the provider's is about a key that it did not find.

    Some of them it reports as the provider's overload, which would be asked again in vain.
    """
    return _NO_KEY.search(str(error)) is not None


def _behind(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, and those that it came of."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _was_led_away(error: BaseException) -> bool:
    """Say whether an error, or one behind it, is the answer of a server that names another.

    LiteLLM reports it of some providers as a lost connection, which would be asked again in vain.
    """
    codes = (getattr(one, "status_code", None) for one in _behind(error))
    return any(isinstance(code, int) and code in _REDIRECTIONS for code in codes)


def _without_status(error: Exception) -> ProviderError:
    """Return what an error is that no status comes with."""
    detail = _detail(error)
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return TransientError(detail, kind="broken_body")
    root = type(error).__module__.partition(".")[0]
    if root in _CLIENTS or isinstance(error, OSError | EOFError):
        return TransientError(detail, kind="connection")
    return UnexpectedError(detail)


def _mislabelled(error: Exception, detail: str) -> ProviderError | None:
    """Return what an error is whose status says something else, or None."""
    if _was_led_away(error):
        msg = f"The address leads to another one, which was not asked. {detail}"
        return PermanentError(msg, kind="redirected")
    said = f"{detail} {_body(error)}"
    if type(error).__name__ == "ContentPolicyViolationError" or _FILTERED.search(said):
        return PermanentError(detail, kind=CONTENT_FILTERED)
    if _PAYMENT.search(said) and not _GOOGLES_LIMIT.search(
        said
    ):  # comes as a rate limit, or as a bad request
        return PermanentError(detail, kind="payment")
    if _UNREADABLE.search(detail):
        return TransientError(detail, kind="broken_body")
    return None


def _body(error: Exception) -> str:
    """Return what else the provider said of an error, as LiteLLM keeps it: codes and types."""
    named = [getattr(error, name, None) for name in ("body", "code", "type")]
    return " ".join(str(one) for one in named if one)


def _refused_parameter(error: Exception) -> str:
    """Name the parameter that a provider refuses, where it does."""
    named = getattr(error, "param", None)
    if isinstance(named, str) and named and named != "messages":
        return named
    found = _PARAMETER.search(str(error))
    return next((one for one in found.groups() if one), "") if found else ""


def _detail(error: Exception) -> str:
    """Return what an error says, with the name of each secret of the environment in its place.

    Some providers repeat the key that they refuse, and the detail is stored and shown.
    """
    said = f"{type(error).__name__}: {error}"
    for name, value in os.environ.items():
        if name.endswith(_SECRET) and len(value) >= _SHORTEST_SECRET:
            said = said.replace(value, f"[{name}]")
    return said


def _broken_stream(error: Exception) -> ProviderError:
    """Return what ended a stream: before its first text it is a refusal in disguise."""
    inner = getattr(error, "original_exception", None)
    if getattr(error, "is_pre_first_chunk", False) and isinstance(inner, Exception):
        found = classified(inner)
        if not isinstance(found, UnexpectedError) and found.kind != "server_error":
            return found
    detail = _detail(error)
    return TransientError(detail, kind="cut_stream", retry_after_s=_retry_after(inner or error))


def _retry_after(error: Exception) -> float | None:
    """Return the seconds that the provider asks to wait: in a header, or in Google's body."""
    return wait_s(dict(_headers(error)), f"{error} {_body(error)}")


def _headers(error: Exception) -> Iterator[tuple[str, str]]:
    headers: Any = getattr(error, "litellm_response_headers", None)
    for name, value in (headers or {}).items():
        yield str(name).casefold(), str(value)


LONGEST_WAIT_S = 3600.0
"""No call waits longer for its provider's word: what is limited by the day is asked in vain
until its attempts are used up, and fails as what it is."""
_BELIEVED_S = 400 * 86_400.0
"""A wait of over a year is no wait but a mistake: it counts as none."""
_EPOCH_S, _EPOCH_MS = 1e9, 1e12
_PART = re.compile(r"(?P<n>\d{1,9}(?:\.\d{1,6})?)(?P<unit>ms|h|m|s)[ ]?", re.IGNORECASE)
_IN_UNITS = re.compile(r"(?:\d{1,9}(?:\.\d{1,6})?(?:ms|h|m|s)[ ]?){1,6}", re.IGNORECASE)
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_GOOGLES = re.compile(r"\"retryDelay\"\s*:\s*\"(?P<wait>[^\"]{1,40})\"")


def wait_s(headers: Mapping[str, str], body: str) -> float | None:
    """Return the seconds to wait, at most ``LONGEST_WAIT_S``; None if nothing usable was said.

    ``retry-after-ms`` is the most exact, ``retry-after`` may be a number of seconds, a time with
    its unit, a date or an epoch, and Google says it in the body.
    """
    found = _said(headers, body, time.time())
    if found is None or found > _BELIEVED_S:
        return None
    return min(max(0.0, found), LONGEST_WAIT_S)


def _said(headers: Mapping[str, str], body: str, now: float) -> float | None:
    if (exact := _number(headers.get("retry-after-ms", ""))) is not None:
        return exact / 1000 - (now if exact >= _EPOCH_MS else 0)
    if (found := seconds(headers.get("retry-after", ""), now)) is not None:
        return found
    told = _GOOGLES.search(body)
    return None if told is None else seconds(told["wait"], now)


def seconds(value: str, now: float) -> float | None:
    """Read a wait in seconds, with a unit, as a date, or as an epoch in seconds or milliseconds."""
    value = value.strip()
    if (number := _number(value)) is not None:
        if number >= _EPOCH_MS:
            return number / 1000 - now
        return number - now if number >= _EPOCH_S else number
    if _IN_UNITS.fullmatch(value):
        return sum(float(one["n"]) * _SECONDS[one["unit"].lower()] for one in _PART.finditer(value))
    try:
        return parsedate_to_datetime(value).timestamp() - now
    except (ValueError, OverflowError, OSError):
        return None


def _number(value: str) -> float | None:
    """Return a finite number, or None."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
