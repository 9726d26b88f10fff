"""How long a provider wants to be left alone, in whatever way it says so."""

import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

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


def wait_s(headers: Mapping[str, str], body: str, now: float | None = None) -> float | None:
    """Return the seconds to wait, at most ``LONGEST_WAIT_S``; None if nothing usable was said.

    ``retry-after-ms`` is the most exact, ``retry-after`` may be a number of seconds, a time with
    its unit, a date or an epoch, and Google says it in the body. ``now`` is an epoch in seconds.
    """
    found = _said(headers, body, time.time() if now is None else now)
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
