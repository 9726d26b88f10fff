"""Ids and times of a release, by which nobody is found, and names put out of nested values."""

import datetime as dt
import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ranking.released.writing import line, sha256

RATER = "rater"
JUDGMENT = "judgment"
PAIR = "pair"
LENGTH = 16  # of 64 hexadecimal digits: nobody meets two alike among a million


def identity(secret: str, label: str, name: str) -> str:
    """Return the id of what has that name on the platform.

    Who has the id cannot find the name without the secret, nor hold a name that is known
    against it. Ids of different labels have nothing to do with each other.
    """
    message = f"{label}\x1f{name}".encode()
    digest = hmac.new(bytes.fromhex(secret), message, hashlib.sha256).hexdigest()
    return f"{label[0]}{digest[:LENGTH]}"


def id_of(row: Mapping[str, Any]) -> str:
    """Return the id of a row: the beginning of the SHA-256 of all else that it says."""
    said = {name: value for name, value in row.items() if name != "id"}
    return f"v{sha256(line(said).encode())[:LENGTH]}"


WORD = re.compile(r"[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*")


def renamed(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401 (JSON is anything)
    """Return nested values with every name in every text replaced, keys of maps included."""
    if isinstance(value, str):
        return WORD.sub(lambda found: names.get(found[0], found[0]), value) if names else value
    if isinstance(value, dict):
        return {renamed(key, names): renamed(one, names) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [renamed(one, names) for one in value]
    return value


def names_in(value: Any, names: Collection[str]) -> set[str]:  # noqa: ANN401 (JSON is anything)
    """Return which of the names stand as words in the texts of nested values, keys included."""
    if isinstance(value, str):
        return {word for word in set(WORD.findall(value)) if word in names}
    if isinstance(value, dict):
        return names_in([*value.keys(), *value.values()], names)
    if isinstance(value, list | tuple):
        return set[str]().union(*(names_in(one, names) for one in value))
    return set()


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


OTHER = "other"
K = 5
"""How many people at least share a value that is released."""


def coarsened(values: Sequence[str], k: int = K) -> tuple[str, ...] | None:
    """Return the values with rare ones as "other", so that each has ``k`` people at least.

    Where nobody's is rare they come back as they are. Otherwise the values that fewer than ``k``
    people have become "other", and with them the next rarest (the first by name among equals)
    until "other" has ``k`` people. None if only "other" would be left, which says nothing.
    """
    counts = Counter(values)
    if not any(n < k for n in counts.values()):
        return tuple(values)
    gone, n_gone = set[str](), 0
    for value, n in sorted(counts.items(), key=lambda it: (it[0] != OTHER, it[1], it[0])):
        if value != OTHER and n >= k and n_gone >= k:
            break
        gone.add(value)
        n_gone += n
    coarse = tuple(OTHER if value in gone else value for value in values)
    return None if set(coarse) == {OTHER} else coarse
