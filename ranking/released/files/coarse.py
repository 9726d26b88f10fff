"""Times as a release tells them: coarse enough that nobody is found by when they judged."""

import datetime as dt

STEP_S = 5
LONGEST_S = 3600


def day(time: dt.datetime) -> str:
    """Return the day of a time, in UTC."""
    return time.astimezone(dt.UTC).date().isoformat()


def seconds(duration: float) -> int:
    """Return a duration in steps of five seconds, an hour at most."""
    return min(LONGEST_S, STEP_S * round(duration / STEP_S))


def numbers_in(evidence: object, name: str = "") -> dict[str, float | int | bool]:
    """Return the numbers of nested values by their paths; words are left out.

    What a rule found is told by its figures: words may name a person or quote one.
    """
    if isinstance(evidence, bool | int | float):
        return {name or "value": evidence}
    if isinstance(evidence, dict):
        parts = [(str(key), value) for key, value in evidence.items()]
    elif isinstance(evidence, list):
        parts = [(str(place), value) for place, value in enumerate(evidence)]
    else:
        return {}
    found: dict[str, float | int | bool] = {}
    for key, value in parts:
        found |= numbers_in(value, f"{name}.{key}" if name else key)
    return found
