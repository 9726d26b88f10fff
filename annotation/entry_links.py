"""How a visitor came: the parameters that crowd platforms put on their links; pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

LONGEST = 120
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"

# platform, the parameter that names the person, the other parameters worth keeping
PLATFORMS = (
    ("PROLIFIC", "PROLIFIC_PID", ("STUDY_ID", "SESSION_ID")),
    ("MTURK", "workerId", ("assignmentId", "hitId")),
    ("CONNECT", "participantId", ("assignmentId", "projectId")),
    ("GENERIC", "pid", ()),
)


class EntryLinkError(ValueError):
    """A link's parameters are not what a platform fills in."""


@dataclass(frozen=True)
class Arrival:
    """Who comes, as their platform names them."""

    platform: str = "GUEST"
    external_id: str = ""
    session: Mapping[str, str] = field(default_factory=dict)
    is_preview: bool = False


def read_arrival(parameters: Mapping[str, str]) -> Arrival:
    """Read who comes from the parameters of the entry link.

    Raises
    ------
    EntryLinkError
        If a parameter is empty, was not filled in by the platform, or is overlong; or if the
        link has a platform's parameters but not the one that names the person.
    """
    if parameters.get("assignmentId") == PREVIEW:
        return Arrival(platform="MTURK", is_preview=True)
    for platform, name, others in PLATFORMS:
        if name in parameters:
            session = {key: parameters[key] for key in others if key in parameters}
            for value in (parameters[name], *session.values()):
                _check(value)
            return Arrival(platform, parameters[name], session)
    _check_names_nobody(parameters)
    return Arrival()


def _check(value: str) -> None:
    if not value.strip() or len(value) > LONGEST or "{" in value or "\0" in value:
        msg = f"not an id that a platform fills in: {value[:40]!r}"
        raise EntryLinkError(msg)


def _check_names_nobody(parameters: Mapping[str, str]) -> None:
    """Refuse half a link: whoever came from a platform must not become a guest without pay."""
    for _platform, name, others in PLATFORMS:
        if any(other in parameters for other in others):
            msg = f"the link has no {name}"
            raise EntryLinkError(msg)
