"""How a visitor came: the parameters that crowd platforms put on their links; pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from completions.dialogues.normaliser import typed

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
class Arrival:
    """Who comes, as their platform names them; ``is_signed`` says that it signed what it says."""

    platform: str = "GUEST"
    external_id: str = ""
    session: Mapping[str, str] = field(default_factory=dict)
    is_preview: bool = False
    is_signed: bool = False


def read_arrival(parameters: Mapping[str, str]) -> Arrival:
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
        return Arrival(platform="MTURK", is_preview=True)
    for platform, name, others in PLATFORMS:
        if _folded(name) in given:
            known = [one for one in (name, *others) if _folded(one) in given]
            ids = {one: _id(given[_folded(one)], platform) for one in known}
            return Arrival(platform, ids.pop(name), ids)
    _check_names_nobody(given)
    return Arrival()


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
    """Refuse half a link: whoever came from a platform must not become a guest without pay."""
    for platform, name, others in PLATFORMS:
        known = (*others, SIGNED) if platform == "PROLIFIC" else others
        if any(_folded(other) in given for other in known):
            msg = f"the link has no {name}"
            raise EntryLinkError(msg, platform=platform)
