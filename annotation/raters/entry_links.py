"""How a visitor came: parameters of crowd platforms, and links that Prolific signed; pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from completions.dialogues.normaliser import typed

if TYPE_CHECKING:
    from jwt import PyJWKClient

LONGEST = 120
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
SIGNED = "prolific_token"
"""The parameter in which Prolific sends what it signed."""

# platform, the parameter that names the person, the other parameters worth keeping
PLATFORMS = (
    ("PROLIFIC", "PROLIFIC_PID", ("STUDY_ID", "SESSION_ID")),
    ("MTURK", "workerId", ("assignmentId", "hitId")),
    ("CONNECT", "participantId", ("assignmentId", "projectId")),
    ("GENERIC", "pid", ()),
)
FILLED_IN = {
    "PROLIFIC": "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}"
    "&SESSION_ID={{%SESSION_ID%}}",
    "MTURK": "workerId=...&assignmentId=...&hitId=...",
    "CONNECT": "participantId=...&assignmentId=...&projectId=...",
    "GENERIC": "pid=...",
}
"""What the end of a link looks like: in the form of Prolific, else with dots for what comes there.

Pasted as it stands it lets nobody in: with an id for example, all would come as one person.
"""

_ID = re.compile(rf"[\w.~@:+=/|,-]{{1,{LONGEST}}}")
_NOBODY = frozenset(
    {"undefined", "null", "nil", "none", "nan", "na", "n/a", "unknown", "anonymous", "id", "userid"}
)
"""What programs write where they have no id, without the signs between words."""


class EntryLinkError(ValueError):
    """A link's parameters are not what a platform fills in; ``platform`` is the one they are of."""

    def __init__(self, message: str, *, platform: str) -> None:
        super().__init__(message)
        self.platform = platform


@dataclass(frozen=True)
class Entry:
    """Who comes, as their platform names them; a guest has no external id.

    ``form`` is what the consent form of this one visit carries, and no other: who sends it again
    is the same browser. ``is_signed`` says that the platform signed who it is.
    """

    platform: str = "GUEST"
    external_id: str = ""
    session: Mapping[str, str] = field(default_factory=dict)
    form: str = ""
    is_signed: bool = False

    @property
    def is_preview(self) -> bool:
        """Whether somebody looks at the task on Mechanical Turk before they take it."""
        return self.platform == "MTURK" and not self.external_id


def read_arrival(parameters: Mapping[str, str]) -> Entry:
    """Read who comes from the parameters of the entry link, whose names may be in any case.

    What surrounds an id and what nobody sees in it is no part of it: two copies of one link are
    one person.

    Raises
    ------
    EntryLinkError
        If a parameter is empty, was not filled in by the platform, or is overlong; or if the
        link has a platform's parameters but not the one that names the person.
    """
    given = {_folded(name): value for name, value in parameters.items()}
    if typed(given.get(_folded("assignmentId"), "")).strip() == PREVIEW:
        return Entry(platform="MTURK")
    for platform, name, others in PLATFORMS:
        if _folded(name) in given:
            known = [one for one in (name, *others) if _folded(one) in given]
            ids = {one: _id(given[_folded(one)], platform) for one in known}
            return Entry(platform, ids.pop(name), ids)
    _check_names_nobody(given)
    return Entry()


def links_for(platform: str) -> dict[str, str]:
    """Return what links into a study end like, by the platform that is given each.

    ``platform`` is as study files name it; ``any`` also lets in who comes by the plain address.
    """
    if platform == "any":
        return {"GUEST": ""} | {name: f"?{link}" for name, link in FILLED_IN.items()}
    return {platform.upper(): f"?{FILLED_IN[platform.upper()]}"}


def _id(value: str, platform: str) -> str:
    """Return an id as it is meant, or refuse what is none."""
    found = typed(value).strip()
    is_one = _ID.fullmatch(found) and any(map(str.isalnum, found)) and "\0" not in value
    if not is_one or _is_placeholder(found):
        msg = f"not an id that a platform fills in: {value[:40]!r}"
        raise EntryLinkError(msg, platform=platform)
    return found


def _is_placeholder(value: str) -> bool:
    """Say whether a value stands where an id was to be filled in: the name of a parameter, too."""
    names = {_folded(one) for _platform, name, others in PLATFORMS for one in (name, *others)}
    return _folded(value) in names | _NOBODY


def _folded(name: str) -> str:
    return name.strip().replace("_", "").replace("-", "").casefold()


def _check_names_nobody(given: Mapping[str, str]) -> None:
    """Refuse half a link: whoever came from a platform must not become a guest without pay.

    It is of the platform whose parameters it has most of; some have the same name on two.
    """

    def n_given(one: tuple[str, str, tuple[str, ...]]) -> int:
        platform, _name, others = one
        known = (*others, SIGNED) if platform == "PROLIFIC" else others
        return sum(_folded(other) in given for other in known)

    likeliest = max(PLATFORMS, key=n_given)
    if n_given(likeliest):
        platform, name, _others = likeliest
        msg = f"the link has no {name}"
        raise EntryLinkError(msg, platform=platform)


# Links that Prolific signed: a JSON Web Token in place of ids that anybody could type.
#
# Its page on the keys says what to check: the signature by the key that the token names, the time
# until which it holds, and that it is meant for this site. The ids stand in the claim ``prolific``,
# under the names that the study's link gives them.

ALGORITHM = "RS256"
KEPT_S = 12 * 60 * 60  # of keys; Prolific asks to read them again at least daily
COOLDOWN_S = 30  # before they are read again for a token that names an unknown one
TIMEOUT_S = 5
LEEWAY_S = 30  # between its clock and ours


class KeysAwayError(Exception):
    """The keys of the platform cannot be read now, so that nothing can be said of the link."""


def read(parameters: Mapping[str, str], *, host: str, keys_url: str) -> dict[str, str]:
    """Return the parameters that Prolific signed for this site.

    What the link says beside them counts for nothing.

    Parameters
    ----------
    parameters : mapping
        Of the link.
    host : str
        Under which the visitor asks for this site, with its port if it has one.
    keys_url : str
        Where Prolific's keys are: a JSON Web Key Set.

    Raises
    ------
    EntryLinkError
        If there is no token, or it is forged, for another site, or has run out.
    KeysAwayError
        If the keys cannot be read.
    """
    import jwt  # noqa: PLC0415 (few studies need it, and it loads a library of cryptography)

    token = parameters.get(SIGNED, "")
    name = host.partition(":")[0]
    sites = [one for known in {host, name} for one in (known, f"https://{known}")]
    try:
        key = keys_at(keys_url).get_signing_key_from_jwt(token)
        claims = jwt.decode(
            token,
            key.key,
            algorithms=[ALGORITHM],
            audience=sites,
            leeway=LEEWAY_S,
            options={"require": ["exp", "aud"]},
        )
    except jwt.PyJWKClientConnectionError as error:
        raise KeysAwayError from error
    except jwt.PyJWTError as error:
        msg = f"not signed as it has to be: {error}"
        raise EntryLinkError(msg, platform="PROLIFIC") from error
    said = claims.get("prolific")
    if not isinstance(said, dict):
        msg = "what is signed names nobody"
        raise EntryLinkError(msg, platform="PROLIFIC")
    return {name: value for name, value in said.items() if isinstance(value, str)}


@lru_cache(maxsize=4)
def keys_at(url: str) -> "PyJWKClient":
    """Return what reads the keys of an address, and keeps them."""
    from jwt import PyJWKClient  # noqa: PLC0415 (as above)

    return PyJWKClient(url, lifespan=KEPT_S, timeout=TIMEOUT_S, cooldown_duration=COOLDOWN_S)
