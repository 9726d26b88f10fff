"""Two hundred raters at once on PostgreSQL: nothing over quota, nobody twice, nothing lost."""

from collections import Counter
from functools import partial

import pytest
from django.db import connection
from django.db.models import F

from annotation.choices import Side
from annotation.judging import services
from annotation.models import Comparison, Judgment, Lease
from annotation.studies.verdicts import Answer
from tests.helpers.factories import NOW, make_comparison, make_rater, make_study
from tests.helpers.threads import LONG_S, together

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

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
            lease = services.lease_next_comparison(rater=rater, now=NOW)
            if lease is None:
                continue
            still.append(rater)
            if (lease.pk + rater.pk) % 7 == 0:
                services.skip_comparison(token=lease.token, rater=rater, reason="unclear", now=NOW)
                continue
            acknowledged.append(answer(lease, rater))
        waiting = still
    return acknowledged


def answer(lease, rater):
    credential = services.RaterCredential(rater.study.slug, rater.code, rater.link_version)
    submission = services.Submission(lease.token, Answer(1, f"for {lease.token}"))
    services.submit_judgment(rater=rater, submission=submission, now=NOW)
    services.submit_and_assign_next(credential=credential, submission=submission, now=NOW)
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
