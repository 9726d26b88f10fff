"""The few ways in which a call can fail, and which of them may heal."""

import os
import re
import time
from email.utils import parsedate_to_datetime

from completions.llm.exchange import Reply

_PERMANENT_KINDS = {
    400: "bad_request",
    401: "authentication",
    402: "payment",
    403: "forbidden",
    404: "not_found",
    422: "bad_request",
}
_TRANSIENT_KINDS = {200: "broken_body", 408: "timeout", 425: "too_early", 429: "rate_limited"}
_FIRST_SERVER_ERROR = 500
_NO_KEY = re.compile(r"missing credentials|api[_ ]key", re.IGNORECASE)
_UNREADABLE = "Error converting to valid response block"
_GOOGLES_DELAY = re.compile(r"\"retryDelay\"\s*:\s*\"(?P<seconds>\d+(?:\.\d+)?)s\"")
_NOTHING_LEFT = "insufficient_quota"
_SECRET = ("_KEY", "_SECRET", "_TOKEN", "_PASSWORD")
_SHORTEST_SECRET = 8
CONFIGURATION = "configuration"
"""The kind of a failure that only whoever runs the platform can mend."""


class ProviderError(Exception):
    """A call brought no usable text; ``kind`` says why in a word, ``reply`` is what did come."""

    kind = "unknown"

    def __init__(self, detail: str, *, kind: str = "", reply: Reply | None = None) -> None:
        super().__init__(detail)
        self.kind = kind or self.kind
        self.reply = reply


class TransientError(ProviderError):
    """The provider may answer if asked again: rate limit, overload, lost connection."""

    def __init__(self, detail: str, *, kind: str, retry_after_s: float | None = None) -> None:
        super().__init__(detail, kind=kind)
        self.retry_after_s = retry_after_s


class PermanentError(ProviderError):
    """Asking again cannot help."""


class ContentFilteredError(PermanentError):
    """The provider's filter held the question or the answer back."""

    kind = "content_filtered"


class EmptyAnswerError(PermanentError):
    """The provider reported success and sent no text."""

    kind = "empty"


class TruncatedAnswerError(PermanentError):
    """The answer stopped at the token limit."""

    kind = "truncated"


def classified(error: Exception) -> ProviderError | None:
    """Turn LiteLLM's exception into one of ours, or return None for what is no provider's error."""
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        return None
    if type(error).__name__ == "MidStreamFallbackError":
        return _broken_stream(error)
    detail = _detail(error)
    if (mislabelled := _mislabelled(error, detail)) is not None:
        return mislabelled
    if status in _TRANSIENT_KINDS or status >= _FIRST_SERVER_ERROR:
        kind = _TRANSIENT_KINDS.get(status, "server_error")
        return TransientError(detail, kind=kind, retry_after_s=_retry_after(error))
    return PermanentError(detail, kind=_PERMANENT_KINDS.get(status, f"status_{status}"))


def _mislabelled(error: Exception, detail: str) -> ProviderError | None:
    """Return what an error is whose status says something else, or None."""
    if type(error).__name__ == "ContentPolicyViolationError":
        return ContentFilteredError(detail)
    if _NOTHING_LEFT in detail:  # comes as a rate limit
        return PermanentError(detail, kind="payment")
    if _UNREADABLE in detail:  # LiteLLM blames the request for an answer that it cannot read
        return TransientError(detail, kind="broken_body")
    return None


def _detail(error: Exception) -> str:
    """Return what an error says, with the name of each secret of the environment in its place.

    Some providers repeat the key that they refuse, and the detail is stored and shown.
    """
    said = f"{type(error).__name__}: {error}"
    for name, value in os.environ.items():
        if name.endswith(_SECRET) and len(value) >= _SHORTEST_SECRET:
            said = said.replace(value, f"[{name}]")
    return said


def lacks_key(error: Exception) -> bool:
    """Say whether an error that LiteLLM calls the provider's is about a key that it did not find.

    Some of them it reports as the provider's overload, which would be asked again in vain.
    """
    return _NO_KEY.search(str(error)) is not None


def _broken_stream(error: Exception) -> ProviderError:
    """Return what ended a stream: before its first text it is a refusal in disguise."""
    inner = getattr(error, "original_exception", None)
    if getattr(error, "is_pre_first_chunk", False) and isinstance(inner, Exception):
        found = classified(inner)
        if found is not None and found.kind != "server_error":
            return found
    detail = _detail(error)
    return TransientError(detail, kind="cut_stream", retry_after_s=_retry_after(inner or error))


def _retry_after(error: Exception) -> float | None:
    """Return the seconds that the provider asks to wait: in a header, or in Google's body."""
    headers = getattr(error, "litellm_response_headers", None) or {}
    if (found := _GOOGLES_DELAY.search(str(error))) is not None and "retry-after" not in headers:
        return float(found["seconds"])
    try:
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    except (KeyError, ValueError):
        return _seconds(str(headers.get("retry-after", "")).strip())


def _seconds(value: str) -> float | None:
    """Read a wait that is given as a number of seconds or as a date."""
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
