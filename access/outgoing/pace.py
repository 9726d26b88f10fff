"""When a message that did not arrive is sent again, and when no more."""

import datetime as dt
import hashlib

FIRST_WAIT = dt.timedelta(seconds=30)
LONGEST_WAIT = dt.timedelta(hours=6)
GIVE_UP_AFTER = dt.timedelta(hours=24)
JITTER = 0.2
"""By how much of itself a wait is lengthened at most."""
MOST_DOUBLINGS = 30


def next_attempt(
    *, attempts: int, since: dt.datetime, now: dt.datetime, key: str
) -> dt.datetime | None:
    """Return when to try again, or None when it is time to give up.

    Waits double from 30 seconds to six hours, and each is lengthened by up to a fifth, so that
    what failed together does not come back together. How much is drawn from ``key`` and the
    number of attempts: the same for the same message.

    Parameters
    ----------
    attempts
        How often it was tried, at least once.
    since
        Since when it has been wanted: the day until giving up begins then.

    Raises
    ------
    ValueError
        If it was never tried.
    """
    if attempts < 1:
        msg = "there is no next attempt before the first"
        raise ValueError(msg)
    wait = min(FIRST_WAIT * 2 ** min(attempts - 1, MOST_DOUBLINGS), LONGEST_WAIT)
    at = now + wait * (1 + JITTER * _fraction(f"{key}/{attempts}"))
    return at if at <= since + GIVE_UP_AFTER else None


def _fraction(text: str) -> float:
    """Return a number from 0 to below 1 that looks drawn and is always the same for a text."""
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
