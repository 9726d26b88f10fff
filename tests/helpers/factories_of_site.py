"""Builders of tokens, jobs, webhooks with a receiver, and judgments made elsewhere."""

import datetime as dt
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from access.choices import HookEvent, Role, Scope
from access.models import ApiToken, Hook, HookDelivery, IdempotencyKey
from access.tokens.services import NewToken, make_token
from annotation.models import ExternalBatch, ExternalDecision, ExternalJudgment
from completions.choices import JobKind
from completions.models import Job
from tests.helpers.factories import (
    CREATED,
    NOW,
    digest,
    make_comparison,
    make_dataset,
    make_study,
    numbers,
    saved,
)
from tests.helpers.factories_written_once import make_member, make_user
from tests.helpers.threads import served

YEAR = dt.timedelta(days=366)


def make_token_row(**fields: Any) -> ApiToken:
    owner = fields.pop("owner", None) or make_user()
    number = numbers.next()
    usual = {
        "owner": owner,
        "name": "a script",
        "prefix": f"heart_{number:06}",
        "secret_hash": f"{number:064x}",
        "scopes": "read:studies",
        "created_at": NOW,
        "expires_at": NOW + dt.timedelta(days=30),
    }
    return saved(ApiToken, fields, usual)


def make_secret(*scopes: Scope, owner: User | None = None, study: str = "") -> str:
    """Return the secret of a token that is valid now, of an owner of the site unless told."""
    owner = owner or make_member(role=Role.OWNER)
    wanted = NewToken("a script", scopes, YEAR, study)
    return make_token(wanted, owner=owner, now=timezone.now())[1]


def bearing(secret: str) -> dict[str, str]:
    """Return the headers of a request with a token."""
    return {"Authorization": f"Bearer {secret}"}


def make_idempotency_key(**fields: Any) -> IdempotencyKey:
    usual = {"key": f"key-{numbers.next()}", "request_hash": "a" * 64, "made_at": NOW}
    return saved(IdempotencyKey, fields, usual, token=make_token_row)


SECRET = "hook_of-the-tests"


def make_hook(**fields: Any) -> Hook:
    usual = {
        "url": f"https://receiver-{numbers.next()}.example/heart",
        "secret": SECRET,
        "events": [event.value for event in HookEvent],
    }
    return saved(Hook, fields, CREATED | usual)


def make_job(**fields: Any) -> Job:
    usual = CREATED | {"kind": JobKind.BUILD, "options": {"n": 3, "seed": 7}}
    return saved(Job, fields, usual, dataset=make_dataset)


def make_delivery(**fields: Any) -> HookDelivery:
    usual = {
        "event_id": uuid.uuid4(),
        "event_key": f"test/{numbers.next()}",
        "event": HookEvent.TEST,
        "payload": {"event": "test", "data": {}},
        **dict.fromkeys(("queued_at", "wanted_since", "next_attempt_at"), NOW),
    }
    return saved(HookDelivery, fields, usual, hook=make_hook)


@dataclass(frozen=True)
class Request:
    """What a receiver was sent."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """A program that takes messages over HTTP: how it answers, and what came."""

    statuses: list[int] = field(default_factory=list)
    """The next answers; 204 when they are used up."""
    headers: dict[str, str] = field(default_factory=dict)
    wait_s: float = 0.0
    drips: bool = False
    requests: list[Request] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/heart"


@contextmanager
def receiving(**fields: Any) -> Iterator[Receiver]:
    """Run a receiver on loopback."""
    receiver = Receiver(**fields)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.requests.append(Request(self.path, dict(self.headers), body))
            time.sleep(receiver.wait_s)
            if receiver.drips:
                self._drip()
                return
            self.send_response(receiver.statuses.pop(0) if receiver.statuses else 204)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.end_headers()

        def _drip(self) -> None:
            """Answer a byte at a time, for as long as anybody listens."""
            try:
                for byte in b"HTTP/1.1 200 OK\r\n" + b"X-Slow: 1\r\n" * 50:
                    self.wfile.write(bytes([byte]))
                    time.sleep(0.1)
            except OSError:
                pass

        def log_message(self, *_args: Any) -> None:
            pass

    with served(Handler) as receiver.port:
        yield receiver


def make_batch(**fields: Any) -> ExternalBatch:
    usual = {
        "source": "Lab Elm",
        "reference": f"batch-{numbers.next()}",
        "url": "https://elm.example/raters",
        "licence": "CC-BY-4.0",
        "recruitment": "Students of one course.",
        "consent": "To publication without names.",
        "collected_from": NOW.date(),
        "collected_until": NOW.date(),
        "is_simulated": False,
        "content_digest": digest("batch"),
        "protocol_hash": digest("protocol"),
        "received_at": NOW,
    }
    return saved(ExternalBatch, fields, usual, study=make_study, received_by=make_user)


def make_external(**fields: Any) -> ExternalJudgment:
    batch = fields.pop("batch", None) or make_batch()
    pair = partial(make_comparison, study=batch.study)
    usual = {"batch": batch, "rater": f"e{numbers.next():04d}", "verdict": 1}
    return saved(ExternalJudgment, fields, usual, comparison=pair)


def make_batch_decision(**fields: Any) -> ExternalDecision:
    usual = {"is_excluded": True, "reason": "Consent was taken back.", "decided_at": NOW}
    return saved(ExternalDecision, fields, usual, batch=make_batch, decided_by=make_user)
