"""A request under a key acts once, and is answered from what was kept."""

import datetime as dt

import pytest

from access.api.stored_answers import (
    KeyTakenError,
    StoredAnswer,
    answer_once,
    forget_idempotency_keys,
)
from access.log import record
from access.models import IdempotencyKey, LogEntry
from access.tasks import forget_idempotency_keys as tick
from tests.helpers.factories import NOW
from tests.helpers.factories_of_site import make_idempotency_key, make_token_row

pytestmark = pytest.mark.django_db
DAY = dt.timedelta(days=1)
SECOND = dt.timedelta(seconds=1)


class BrokenError(Exception):
    """Something went wrong in the middle."""


@pytest.fixture
def token():
    return make_token_row()


def act():
    record(action="test.acted", subject="test", now=NOW)
    return StoredAnswer(201, {"n": n_acts()})


def fail():
    act()
    raise BrokenError


def n_acts():
    return LogEntry.objects.filter(action="test.acted").count()


def ask(token, *, key="k", body="a", now=NOW, does=act):
    return answer_once(token=token, key=key, request_hash=body * 64, now=now, act=does)


class TestAnsweringOnce:
    def test_acts_and_keeps_the_answer(self, token):
        assert ask(token) == StoredAnswer(201, {"n": 1})
        assert ask(token, now=NOW + DAY - SECOND) == StoredAnswer(201, {"n": 1}, is_replayed=True)
        assert n_acts() == 1

    def test_refuses_the_key_for_something_else(self, token):
        ask(token)

        with pytest.raises(KeyTakenError):
            ask(token, body="b")
        assert n_acts() == 1

    def test_forgets_the_key_with_what_failed(self, token):
        with pytest.raises(BrokenError):
            ask(token, does=fail)

        assert (n_acts(), IdempotencyKey.objects.count()) == (0, 0)
        assert not ask(token, body="b").is_replayed

    def test_a_key_is_its_tokens(self, token):
        ask(token)

        assert not ask(make_token_row(), body="b").is_replayed
        assert not ask(token, key="another", body="b").is_replayed

    def test_a_key_ends_with_its_day_though_nobody_deleted_it(self, token):
        ask(token)

        assert not ask(token, body="b", now=NOW + DAY).is_replayed
        assert IdempotencyKey.objects.get().made_at == NOW + DAY


class TestForgetting:
    def test_deletes_what_is_a_day_old(self, monkeypatch):
        old = [make_idempotency_key(made_at=NOW - DAY) for _ in range(3)]
        kept = make_idempotency_key(made_at=NOW - DAY + SECOND)
        monkeypatch.setattr("access.api.stored_answers.BATCH", 2)

        assert forget_idempotency_keys(now=NOW) == len(old)
        assert forget_idempotency_keys(now=NOW) == 0
        assert IdempotencyKey.objects.get() == kept

    def test_is_done_by_a_tick(self):
        make_idempotency_key(made_at=NOW - DAY)

        tick()

        assert not IdempotencyKey.objects.exists()
