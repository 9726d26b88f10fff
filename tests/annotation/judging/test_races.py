"""People who act at the same moment, in real threads."""

import io
import threading
from collections import Counter
from functools import partial

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models import F
from psycopg.errors import DeadlockDetected, LockNotAvailable

from annotation.choices import Side
from annotation.judging.services import judging, leasing
from annotation.judging.services.choosing import choose_next
from annotation.models import Comparison, Judgment, Lease, Rater, Study
from annotation.planning import services as planning_services
from annotation.quick import services as quick_services
from annotation.quick.layout import read_quick
from annotation.raters.entry_links import Entry
from annotation.raters.services import entering
from annotation.studies.protocol.files import shipped_study
from annotation.studies.rubric import load_rubric
from annotation.studies.services import drafts
from annotation.studies.verdicts import Answer
from completions.leases.timed import ATTEMPTS, atomic_despite_deadlocks
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_dataset,
    make_rater,
    make_study,
)
from tests.helpers.judged import credential_of, lease_next, make_comparisons, skip, submit
from tests.helpers.threads import LONG_S, TIMEOUT_S, together, while_uncommitted

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]

LATER = NOW + HOUR  # every lease has run out by then


def make_raters(study, n):
    return [make_rater(study=study) for _ in range(n)]


def lease_and_answer(rater, now=NOW):
    lease = lease_next(rater, now)
    return submit(lease, now=now) if lease else None


def books_balance(comparison, *, slots):
    """Every slot is free, held by an open lease, or filled by a judgment that counts."""
    comparison = Comparison.objects.get(pk=comparison.pk)
    counted = Judgment.objects.filter(comparison=comparison, is_surplus=False, revises=None)
    holders = [
        *comparison.leases.filter(closed_at=None).values_list("first_side", flat=True),
        *counted.values_list("first_side", flat=True),
    ]
    as_a, as_b = holders.count(Side.A), holders.count(Side.B)
    shown = (comparison.shown_first_as_a, comparison.shown_first_as_b)
    return comparison.slots_left + len(holders) == slots and shown == (as_a, as_b)


class TestRaters:
    def test_never_get_more_leases_of_one_comparison_than_it_has_slots(self, crowd):
        for _ in range(crowd.rounds):
            pair = make_comparison(slots_left=3)
            raters = make_raters(pair.study, crowd.people)

            leases = together([partial(lease_next, rater) for rater in raters])

            assert sum(lease is not None for lease in leases) == 3
            assert books_balance(pair, slots=3)

    def test_are_not_told_that_nothing_is_left_while_rows_are_merely_busy(self, crowd):
        for _ in range(crowd.rounds):
            pair = make_comparison(slots_left=crowd.people)
            raters = make_raters(pair.study, crowd.people)

            leases = together([partial(lease_next, rater) for rater in raters])

            assert None not in leases
            pair.refresh_from_db()
            assert abs(pair.shown_first_as_a - pair.shown_first_as_b) <= 1

    def test_get_one_lease_however_many_tabs_they_open(self, crowd):
        study = make_study()
        make_comparisons(study, 4)

        for rater in make_raters(study, crowd.rounds):
            leases = together([partial(lease_next, rater)] * 4)

            assert len({lease.pk for lease in leases}) == rater.leases.count() == 1


class TestOneAnswerSentTwice:
    def test_at_once_gives_one_judgment(self, crowd):
        for _ in range(crowd.rounds):
            lease = lease_next(make_rater(study=make_comparison().study))

            judgments = together([partial(submit, lease, now=NOW)] * 2)

            assert len(set(judgments)) == 1
            assert Judgment.objects.filter(lease=lease).count() == 1

    def test_with_two_contents_gives_a_judgment_and_its_revision(self, crowd):
        for _ in range(crowd.rounds):
            lease = lease_next(make_rater(study=make_comparison().study))
            said = [Answer(1, "warm"), Answer(-1, "cold")]

            judgments = together([partial(submit, lease, one, now=NOW) for one in said])

            original, revision = sorted(judgments, key=lambda judgment: judgment.pk)
            assert (original.revises, revision.revises) == (None, original)


class TestNewRaters:
    def test_are_let_in_while_the_study_is_being_planned(self):
        study = make_comparison().study

        rater = while_uncommitted(
            partial(planning_services.plan_study, study=study, now=NOW),
            partial(
                entering.enter_study, study=study, entry=Entry(), utc_offset_minutes=None, now=NOW
            ),
            has_to_wait=False,
        )

        assert Rater.objects.get() == rater


class TestTheSweepOfExpiredLeases:
    def test_never_costs_an_answer_that_comes_in_meanwhile(self, crowd):
        for _ in range(crowd.rounds):
            pair = make_comparison(slots_left=4)
            late = [lease_next(rater) for rater in make_raters(pair.study, 4)]
            others = make_raters(pair.study, 4)

            together(
                [
                    partial(leasing.release_expired_leases, now=LATER),
                    *(partial(submit, lease, now=LATER) for lease in late),
                    *(partial(lease_and_answer, rater, LATER) for rater in others),
                ]
            )

            assert Judgment.objects.filter(lease__in=late).count() == 4
            assert books_balance(pair, slots=4)

    def test_leaves_no_rater_with_a_lease_that_it_is_closing(self):
        pair = make_comparison(slots_left=1)
        lease = lease_next(make_rater(study=pair.study))

        again = while_uncommitted(
            partial(leasing.release_expired_leases, now=LATER),
            partial(lease_next, lease.rater, LATER),
            has_to_wait=True,
        )

        assert again is None
        assert books_balance(pair, slots=1)


AT_ONCE = 40  # connections; each acts for several raters in turn, a pair at a time
PAIRS = 40
SLOTS = 5


@pytest.fixture
def study():
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has one writer at a time: this crowd is for PostgreSQL")
    study = make_study(session_length=1000, judgments_per_pair=SLOTS)
    for _ in range(PAIRS):
        make_comparison(study=study, slots_left=SLOTS)
    return study


def act(raters):
    """Let the raters answer one pair each, round after round, until nothing is left for any.

    Every seventh pair is skipped, and every answer is sent twice.
    """
    acknowledged = []
    waiting = list(raters)
    while waiting:
        still = []
        for rater in waiting:
            lease = lease_next(rater)
            if lease is None:
                continue
            still.append(rater)
            if (lease.pk + rater.pk) % 7 == 0:
                skip(lease, reason="unclear")
                continue
            acknowledged.append(answer_twice(lease, rater))
        waiting = still
    return acknowledged


def answer_twice(lease, rater):
    answer = Answer(1, f"for {lease.token}")
    submit(lease, answer, rater=rater, now=NOW)
    judging.submit_and_assign_next(
        credential=credential_of(rater),
        submission=judging.Submission(lease.token, answer),
        now=NOW,
    )
    return lease.token


@pytest.mark.parametrize("n_raters", [AT_ONCE, pytest.param(200, marks=pytest.mark.full)])
def test_fill_every_slot_once_and_lose_nothing(study, n_raters):
    raters = [make_rater(study=study) for _ in range(n_raters)]
    groups = [raters[start::AT_ONCE] for start in range(AT_ONCE)]

    acknowledged = [
        token
        for one in together([partial(act, group) for group in groups], timeout_s=LONG_S)
        for token in one
    ]
    # A slot that came back from a skip after the others had left waits for whoever comes again.
    acknowledged += act(raters)

    pairs = Comparison.objects.filter(study=study)
    judgments = Judgment.objects.filter(comparison__study=study)
    per_pair = Counter(judgments.values_list("comparison", flat=True))
    shown = Counter(judgments.values_list("comparison", "rater"))
    sides = Counter(judgments.values_list("comparison", "first_side"))
    assert set(per_pair.values()) == {SLOTS}, "every slot is filled, and none twice"
    assert set(shown.values()) == {1}, "no rater twice on a comparison"
    assert not pairs.exclude(slots_left=0).exists()
    assert all(
        abs(sides[pair.pk, Side.A] - sides[pair.pk, Side.B]) <= 1
        and (pair.shown_first_as_a, pair.shown_first_as_b)
        == (sides[pair.pk, Side.A], sides[pair.pk, Side.B])
        for pair in pairs
    ), "sides are balanced within one, and the counters say the same"
    stored = set(judgments.values_list("lease__token", flat=True))
    assert stored == set(acknowledged), "no acknowledged answer is missing"
    assert len(acknowledged) == PAIRS * SLOTS == judgments.count()
    assert not Lease.objects.filter(closed_at=None).exists()
    assert not judgments.exclude(first_side=F("lease__first_side")).exists()


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


@pytest.mark.parametrize(
    ("cause", "calls"),
    [(DeadlockDetected(), ATTEMPTS), (LockNotAvailable(), 1)],
    ids=["deadlocks only", "another error"],
)
def test_whoever_meets_deadlocks_only_or_another_error_is_told(cause, calls):
    ended = Ended(cause, times=ATTEMPTS)

    with pytest.raises(OperationalError):
        atomic_despite_deadlocks(ended)()

    assert ended.calls == calls


def test_a_rater_whose_choice_was_ended_gets_a_pair(monkeypatch):
    study = make_study()
    make_comparison(study=study, slots_left=5)
    rater = make_rater(study=study)
    ended = Ended(DeadlockDetected(), times=1, then=choose_next)
    monkeypatch.setattr(leasing, "choose_next", ended)

    with transaction.atomic():  # as within a larger one
        lease = lease_next(rater)

    assert ended.calls == 2
    assert [lease] == list(Lease.objects.all())


def make_draft():
    study = shipped_study("demo")
    make = partial(drafts.create_study, protocol=study, dataset=make_dataset(), may_replace=False)
    return partial(make, rubric=load_rubric(study.rubric), now=NOW)


def make_from_texts():
    file = read_quick(io.BytesIO(b"item,system,text\nq1,Ash,Yes.\nq1,Birch,No.\n"))
    wish = quick_services.QuickWish("Pilot", "Which is better?", 2)
    return partial(quick_services.make_quick_study, file=file, wish=wish, now=NOW)


@pytest.mark.parametrize("form", [make_draft, make_from_texts])
def test_a_study_whose_form_is_sent_twice_is_made_once_and_the_other_is_told(form):
    make = form()

    def send():
        try:
            make()
        except quick_services.REFUSALS as error:
            return str(error)
        return ""

    said = together([send, send])

    assert Study.objects.count() == 1
    assert [" already" in one for one in sorted(said)] in ([False, True], [False, False])
