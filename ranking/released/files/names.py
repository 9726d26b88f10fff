"""Which files a release has, by what it says of itself."""

import datetime as dt
import hashlib
import hmac
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ranking.released.files.tables import TABLES
from ranking.released.writing import SUMS, line, sha256

ABOUT = "release.json"
ALWAYS = (
    ABOUT,
    SUMS,
    "README.md",
    "LICENSE",
    "NOTICE",
    "croissant.json",
    "study/protocol.json",
    "study/rubric.json",
    "study/plan.json",
)
REBUILD = "REBUILD.md"
"""How to put the text back, where it is not in the release."""


def names_of_files(about: Mapping[str, Any]) -> frozenset[str]:
    """Return the paths of all files of a release whose release.json says ``about``.

    Raises
    ------
    KeyError, TypeError
        If it lacks what every release says.
    """
    return frozenset(_names(about))


def _names(about: Mapping[str, Any]) -> Iterator[str]:
    yield from ALWAYS
    if not about["dataset"]["has_text"]:
        yield REBUILD
    counts = about["counts"]
    yield from (one.path for one in TABLES if not one.is_optional or one.name in counts)
    yield from (f"prompts/{name}" for name in about["prompts"])
    for fit in about["fits"]:
        key = fit["fit"]
        yield f"ratings/{key}.json"
        yield from (f"analyses/{key}/{kind}.json" for kind in fit["analyses"])
        yield from (f"figures/{key}/{name}.svg" for name in fit["figures"])


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


RATER = "rater"
JUDGMENT = "judgment"
LENGTH = 16  # of 64 hexadecimal digits: nobody meets two alike among a million


def identity(secret: str, label: str, name: str) -> str:
    """Return the id of what has that name on the platform.

    Who has the id cannot find the name without the secret, nor hold a name that is known
    against it. Ids of different labels have nothing to do with each other.
    """
    message = f"{label}\x1f{name}".encode()
    digest = hmac.new(bytes.fromhex(secret), message, hashlib.sha256).hexdigest()
    return f"{label[0]}{digest[:LENGTH]}"


EXTERNAL_LENGTH = 16  # of 64 hexadecimal digits


def id_of(row: Mapping[str, Any]) -> str:
    """Return the id of a row: the beginning of the SHA-256 of all else that it says."""
    said = {name: value for name, value in row.items() if name != "id"}
    return f"v{sha256(line(said).encode())[:EXTERNAL_LENGTH]}"


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


def names_in(text: str, names: Collection[str]) -> set[str]:
    """Return which of the names stand in a text as words."""
    return {word for word in set(WORD.findall(text)) if word in names}


# Contexts are parts of dialogues: a licence that forbids derivatives forbids them.
SHAREABLE = (
    r"cc0",
    r"cc ?by( (sa|nc|nc sa))?",
    r"creative commons( zero| attribution)( (share ?alike|non ?commercial))*",
    r"public domain",
    r"(the )?unlicense",
    r"mit",
    r"apache( license)?",
    r"bsd( [23] clause)?",
    r"odc by|odbl|pddl|cdla( permissive| sharing)?",
)
_NUMBER = re.compile(r"\bv?\d+(\.\d+)*\b")
_WORDS = re.compile(r"[^a-z0-9.]+")
KNOWN = re.compile("|".join(f"({one})" for one in SHAREABLE))


def may_share(licence: str) -> bool:
    """Say whether a licence is known to let text be handed on, in parts, to anybody.

    What is not known is not handed on: an empty name, a name of one's own, an agreement, and any
    licence that forbids derivatives.
    """
    words = _WORDS.sub(" ", licence.casefold()).strip()
    plain = " ".join(_NUMBER.sub(" ", words).split())
    plain = plain.removesuffix(" licence").removesuffix(" license")
    for ending in (" international", " generic", " unported", " universal", " only", " or later"):
        plain = plain.removesuffix(ending)
    return KNOWN.fullmatch(plain) is not None
