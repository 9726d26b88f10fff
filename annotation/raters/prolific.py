"""The part of Prolific's API that studies need: draft, places, submissions, approval, rejection.

Off unless ``HEART_PROLIFIC_TOKEN`` is set. Source: docs.prolific.com, API reference (2026-11).
"""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings

from annotation.raters.webhooks import SUBMISSION, Event

PATIENCE_S = 10
A_PAGE = 100
MOST_PAGES = 200
LONGEST_ANSWER = 10_000_000
REJECTIONS = (
    *("FAILED_CHECK", "TOO_QUICKLY", "LOW_EFFORT", "FAILED_INSTRUCTIONS"),
    *("NO_DATA", "BAD_CODE", "OTHER"),
)
"""Categories of rejections that fit this kind of study."""


class ProlificError(Exception):
    """Prolific refused, or could not be reached; the message says why."""


def is_on() -> bool:
    """Say whether there is a token."""
    return bool(settings.HEART_PROLIFIC_TOKEN)


def create_draft(study: Mapping[str, object]) -> str:
    """Create a draft of a study and return its id; a person publishes it on Prolific.

    Raises
    ------
    ProlificError
        As everything here does.
    """
    made = _ask("POST", "studies/", study)
    return _text(made, "id")


def set_places(study_id: str, n: int) -> None:
    """Set how many people may take part."""
    _ask("PATCH", f"studies/{quote(study_id, safe='')}/", {"total_available_places": n})


def submissions(study_id: str) -> Iterator[Event]:
    """Yield how every submission of a study stands, page by page, as a webhook would tell it."""
    for page in range(1, MOST_PAGES + 1):
        parameters = urlencode({"study": study_id, "page": page, "page_size": A_PAGE})
        rows = _ask("GET", f"submissions/?{parameters}").get("results")
        if not isinstance(rows, list):
            msg = "Prolific sent a list of submissions that has no results."
            raise ProlificError(msg)
        for row in rows:
            status = _text(row, "status").upper().replace(" ", "-").replace("_", "-")
            key, person = _text(row, "id"), _text(row, "participant_id")
            yield Event(f"read {key} {status}", SUBMISSION, status, person, key)
        if len(rows) < A_PAGE:
            return


def approve(submission_ids: Sequence[str]) -> None:
    """Approve submissions; Prolific pays them within minutes."""
    _ask("POST", "submissions/bulk-approve/", {"submission_ids": list(submission_ids)})


def reject(submission_id: str, *, message: str, category: str) -> None:
    """Turn a submission down, with a message of 100 characters or more; it is for good."""
    body = {"action": "REJECT", "message": message, "rejection_category": category}
    _ask("POST", f"submissions/{quote(submission_id, safe='')}/transition/", body)


def _ask(method: str, path: str, body: Mapping[str, object] | None = None) -> Mapping[str, Any]:
    request = urllib.request.Request(  # noqa: S310 (an address of the settings)
        f"{settings.HEART_PROLIFIC_API_URL}{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Token {settings.HEART_PROLIFIC_TOKEN}",
            "Content-Type": "application/json",
        },
    )
    try:
        with _opener().open(request, timeout=PATIENCE_S) as answer:
            told = answer.read(LONGEST_ANSWER)
    except urllib.error.HTTPError as error:
        msg = f"Prolific refused ({error.code}): {_why(error)}"
        raise ProlificError(msg) from error
    except OSError as error:
        msg = "Prolific could not be reached. Try again in a moment."
        raise ProlificError(msg) from error
    try:
        found = json.loads(told or b"{}")
    except (ValueError, RecursionError) as error:
        msg = "Prolific sent something else than JSON."
        raise ProlificError(msg) from error
    return found if isinstance(found, dict) else {}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The token goes to the address of the settings and nowhere else."""

    def redirect_request(self, *_args: Any, **_told: Any) -> None:  # noqa: ANN401 (as the library calls it)
        """Refuse."""


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_NoRedirect)


def _why(error: urllib.error.HTTPError) -> str:
    """Return the first words of an answer that refuses."""
    try:
        found = json.loads(error.read(LONGEST_ANSWER))
        told = found["error"].get("detail") or found["error"].get("title")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError, OSError):
        return str(error.reason)
    return str(told)[:300]


def _text(row: object, name: str) -> str:
    value = row.get(name) if isinstance(row, dict) else None
    if not isinstance(value, str) or not value:
        msg = f"Prolific sent something without its {name}."
        raise ProlificError(msg)
    return value
