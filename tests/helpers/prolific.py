"""People who come from a platform, and a stand-in for Prolific by its API reference (2026-11)."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from annotation.choices import Platform
from annotation.models import PlatformSubmission, Study
from tests.helpers.factories import NOW, make_rater, make_study
from tests.helpers.factories_of_people import make_submission
from tests.helpers.threads import served
from tests.helpers.visits import study_content

TOKEN = "a-token"
NEEDED = (
    *("name", "description", "external_study_url", "prolific_id_option", "completion_codes"),
    *("estimated_completion_time", "reward", "total_available_places"),
)
CODE_TYPES = (
    *("COMPLETED", "FAILED_ATTENTION_CHECK", "FOLLOW_UP_STUDY", "GIVE_BONUS"),
    *("INCOMPATIBLE_DEVICE", "NO_CONSENT", "OTHER", "FIXED_SCREENOUT"),
)
SHORTEST_MESSAGE = 100
Told = tuple[int, dict[str, Any]]


@dataclass
class FakeProlific:
    """Studies and submissions by their ids, and what was asked in order."""

    url: str = ""
    studies: dict[str, dict[str, Any]] = field(default_factory=dict)
    submissions: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    fails_with: Told | None = None
    raw: bytes | None = None

    def submit(self, key: str, study: str, status: str, participant: str) -> None:
        """Let a participant have a submission."""
        row = {"id": key, "study_id": study, "status": status, "participant_id": participant}
        self.submissions[key] = row

    def answer(self, method: str, address: str, token: str, body: dict[str, Any]) -> Told:
        """Answer as the documentation says."""
        path = urlsplit(address).path.removeprefix("/api/v1/")
        self.asked.append((method, path))
        if token != f"Token {TOKEN}":
            return 401, {"error": {"title": "Authentication", "detail": "Invalid token."}}
        if self.fails_with is not None:
            return self.fails_with
        asked = {name: one[0] for name, one in parse_qs(urlsplit(address).query).items()}
        for way, pattern, handle in ROUTES:
            if way == method and (found := re.fullmatch(pattern, path)):
                return handle(self, *found.groups(), body | asked)
        return 404, {}

    def _create(self, body: dict[str, Any]) -> Told:
        if missing := [name for name in NEEDED if not body.get(name)]:
            return 400, {"error": {"title": "Bad request", "detail": f"Missing: {missing}"}}
        codes = [one["code"] for one in body["completion_codes"]]
        if len(set(codes)) < len(codes):
            return 400, {"error": {"detail": "Each code must be unique within a study."}}
        assert all(one["code_type"] in CODE_TYPES for one in body["completion_codes"])
        key = f"study{len(self.studies) + 1}"
        self.studies[key] = body | {"id": key, "status": "UNPUBLISHED"}
        return 201, self.studies[key]

    def _update(self, key: str, body: dict[str, Any]) -> Told:
        self.studies[key] |= body
        return 200, self.studies[key]

    def _approve(self, body: dict[str, Any]) -> Told:
        for key in body["submission_ids"]:
            self.submissions[key]["status"] = "APPROVED"
        return 200, {}

    def _list(self, asked: dict[str, str]) -> Told:
        rows = [one for one in self.submissions.values() if one["study_id"] == asked["study"]]
        size, page = int(asked["page_size"]), int(asked["page"])
        return 200, {"results": rows[(page - 1) * size : page * size]}

    def _transition(self, key: str, body: dict[str, Any]) -> Told:
        if body["action"] == "REJECT" and len(body.get("message", "")) < SHORTEST_MESSAGE:
            return 400, {"error": {"detail": "The message must be at least 100 characters long."}}
        self.submissions[key] |= {"status": "REJECTED", "told": body}
        return 200, self.submissions[key]


ROUTES: tuple[tuple[str, str, Any], ...] = (
    ("POST", "studies/", FakeProlific._create),
    ("PATCH", "studies/([^/]+)/", FakeProlific._update),
    ("GET", "submissions/", FakeProlific._list),
    ("POST", "submissions/bulk-approve/", FakeProlific._approve),
    ("POST", "submissions/([^/]+)/transition/", FakeProlific._transition),
)


@contextmanager
def faking_prolific() -> Iterator[FakeProlific]:
    """Run the stand-in on a free port."""
    fake = FakeProlific()

    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            token = self.headers.get("Authorization", "")
            status, told = fake.answer(self.command, self.path, token, body)
            self.send_response(status)
            if status == 302:
                self.send_header("Location", told["to"])
            self.end_headers()
            self.wfile.write(fake.raw if fake.raw is not None else json.dumps(told).encode())

        do_GET = do_POST = do_PATCH = _do  # noqa: N815 (as the library calls them)

        def log_message(self, *_given: object) -> None:
            """Print nothing."""

    with served(Handler) as port:
        fake.url = f"http://127.0.0.1:{port}/api/v1/"
        yield fake


CODES = {"complete": "C1", "partial": "C2", "no_consent": "C4"}


def make_paid_study(slug: str = "paid", **crowd: Any) -> Study:
    usual = study_content()["crowd"] | {"platform": "prolific", "codes": CODES}
    return make_study(slug=slug, content=study_content(crowd=usual | crowd), locked_at=NOW)


def come(
    study: Study,
    code: str = "C1",
    session: str = "x-1",
    platform: str = Platform.PROLIFIC,
    **fields: Any,
) -> PlatformSubmission:
    rater = make_rater(study=study, platform=platform, external_id=f"p-{session}")
    return make_submission(rater=rater, session_id=session, code=code, **fields)
