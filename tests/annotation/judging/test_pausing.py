"""A break stops the clock of the open pair."""

import datetime as dt

import pytest

from annotation.judging import services
from tests.helpers.factories import NOW, make_comparison, make_rater, make_study
from tests.helpers.judged import ANSWER

pytestmark = pytest.mark.django_db
MINUTE = dt.timedelta(minutes=1)


@pytest.fixture
def rater():
    study = make_study()
    make_comparison(study=study)
    return make_rater(study=study)


def show(rater, now):
    lease = services.lease_next_comparison(rater=rater, now=now)
    assert lease is not None
    return lease


def pause(rater, now):
    services.pause_judging(rater=rater, now=now)


class TestPauseJudging:
    def test_time_on_a_break_is_kept_apart(self, rater):
        lease = show(rater, NOW)
        pause(rater, NOW + MINUTE)
        show(rater, NOW + 11 * MINUTE)
        judgment = services.submit_judgment(
            rater=rater,
            submission=services.Submission(lease.token, ANSWER),
            now=NOW + 12 * MINUTE,
        )

        assert judgment.paused_ms == 10 * 60_000
        assert judgment.submitted_at - judgment.shown_at == 12 * MINUTE

    def test_pausing_again_goes_on_with_the_same_break(self, rater):
        lease = show(rater, NOW)
        pause(rater, NOW + MINUTE)
        pause(rater, NOW + 5 * MINUTE)

        lease.refresh_from_db()
        assert lease.paused_at == NOW + MINUTE

    def test_a_second_break_adds_to_the_first(self, rater):
        lease = show(rater, NOW)
        for start in (1, 5):
            pause(rater, NOW + start * MINUTE)
            show(rater, NOW + (start + 2) * MINUTE)

        lease.refresh_from_db()
        assert (lease.paused_at, lease.paused_ms) == (None, 4 * 60_000)

    def test_without_an_open_pair_it_changes_nothing(self, rater):
        pause(rater, NOW)

        assert not rater.leases.exists()
