"""Transactions that wait for each other: both end well, and nothing is done twice."""

import threading

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models import F
from psycopg.errors import DeadlockDetected, LockNotAvailable

from annotation.judging import services
from annotation.judging.services import leasing
from annotation.judging.services.choosing import choose_next
from annotation.models import Comparison, Lease
from completions.leases.deadlocks import ATTEMPTS, atomic_despite_deadlocks
from tests.helpers.factories import NOW, make_comparison, make_rater, make_study
from tests.helpers.threads import TIMEOUT_S, together

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


class Ended:
    """A function that the database ends a number of times before it lets it through."""

    def __init__(self, cause, times, then=lambda **_named: "done"):
        self.cause, self.times, self.then = cause, times, then
        self.calls = 0

    def __call__(self, *args, **named):
        self.calls += 1
        if self.calls > self.times:
            return self.then(*args, **named)
        raise OperationalError from self.cause


def test_two_who_wait_for_each_other_both_end():
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has one writer at a time: nobody waits for another's row")
    study = make_study()
    rows = [make_comparison(study=study, slots_left=5).pk for _ in range(2)]
    both_hold_one = threading.Barrier(2)

    def take(first, second):
        meets = iter([both_hold_one.wait])

        @atomic_despite_deadlocks
        def take_both():
            for pk in (first, second):
                Comparison.objects.filter(pk=pk).update(slots_left=F("slots_left") - 1)
                for meet in meets:  # the first time alone, with one row held and one to come
                    meet(TIMEOUT_S)

        return take_both

    together([take(*rows), take(*reversed(rows))])

    assert list(Comparison.objects.values_list("slots_left", flat=True)) == [3, 3]


def test_a_transaction_that_a_deadlock_ended_leaves_nothing_behind():
    study = make_study()
    pair = make_comparison(study=study, slots_left=5)
    ended = Ended(DeadlockDetected(), times=2)

    @atomic_despite_deadlocks
    def take_one():
        Comparison.objects.filter(pk=pair.pk).update(slots_left=F("slots_left") - 1)
        ended()

    take_one()

    assert ended.calls == 3
    pair.refresh_from_db()
    assert pair.slots_left == 4


def test_whoever_meets_deadlocks_only_is_told():
    ended = Ended(DeadlockDetected(), times=ATTEMPTS)

    with pytest.raises(OperationalError):
        atomic_despite_deadlocks(ended)()

    assert ended.calls == ATTEMPTS


def test_another_error_is_not_tried_again():
    ended = Ended(LockNotAvailable(), times=1)

    with pytest.raises(OperationalError):
        atomic_despite_deadlocks(ended)()

    assert ended.calls == 1


def test_a_rater_whose_choice_was_ended_gets_a_pair(monkeypatch):
    study = make_study()
    make_comparison(study=study, slots_left=5)
    rater = make_rater(study=study)
    ended = Ended(DeadlockDetected(), times=1, then=choose_next)
    monkeypatch.setattr(leasing, "choose_next", ended)

    with transaction.atomic():  # as within a larger one
        lease = services.lease_next_comparison(rater=rater, now=NOW)

    assert ended.calls == 2
    assert [lease] == list(Lease.objects.all())
