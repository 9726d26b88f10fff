"""Ticks keep ratings up to date: they look where a glance shows a change, and lose none."""

import datetime as dt

import pytest

from access.nudges import Work
from annotation.models import Exclusion
from annotation.raters.services.withdrawing import withdraw_rater
from ranking.choices import EvaluatorPool, FitState
from ranking.fits import services as fit_services
from ranking.fits.services import claiming, ticking
from ranking.models import Fit
from tests.helpers.factories import HOUR, make_judgment
from tests.helpers.judged import make_judged_study, newest_fit
from tests.helpers.observed import nudged

pytestmark = pytest.mark.django_db

SECOND = dt.timedelta(seconds=1)
MINUTE = dt.timedelta(minutes=1)


@pytest.fixture
def looks(monkeypatch):
    """The studies that were looked at."""
    looked = []
    look_at = claiming.look_at

    def look(*, study, now):
        looked.append(study)
        return look_at(study=study, now=now)

    monkeypatch.setattr(ticking, "look_at", look)
    return looked


def tick(now):
    """Claim what is due and let it be done; nobody here reads what was computed."""
    claimed = fit_services.claim_all_changed_fits(now=now)
    Fit.objects.filter(pk__in=claimed).update(state=FitState.DONE, ended_at=now)
    return claimed


def judge(study, **fields):
    return make_judgment(comparison=study.comparisons.first(), **fields)


def withdraw(rater, now, *, keep_answers=False):
    rater.study.comparisons.update(shown_first_as_a=9, shown_first_as_b=9)
    withdraw_rater(rater=rater, now=now, keep_answers=keep_answers)


class TestIdleTicks:
    def test_look_once_while_nothing_changes_and_read_a_few_rows(
        self, now, looks, django_assert_max_num_queries
    ):
        study = make_judged_study()
        tick(now)

        for n_seconds in range(30, 300, 30):
            with django_assert_max_num_queries(9):  # savepoints among them
                tick(now + n_seconds * SECOND)

        assert looks == [study]

    def test_look_all_the_same_every_few_minutes(self, now, monkeypatch):
        monkeypatch.setattr(ticking, "OVERLAP", 0)  # so that no glance sees what comes in late
        study = make_judged_study()
        key = judge(study).pk + 1
        judge(study, pk=key + 1)
        tick(now)
        judge(study, pk=key)

        assert tick(now + 299 * SECOND) == []
        assert len(tick(now + 300 * SECOND)) == 4

    def test_leave_a_study_alone_while_another_is_judged(self, now, looks):
        quiet, busy = make_judged_study(), make_judged_study()
        tick(now)
        judge(busy)

        tick(now + SECOND)

        assert (looks.count(quiet), looks.count(busy)) == (1, 2)


class TestWhatATickNotices:
    @pytest.mark.parametrize(
        "change",
        [
            lambda study, _now, _settings: judge(study),
            lambda study, _now, _settings: Fit.objects.filter(study=study).delete(),
            lambda _study, _now, settings: setattr(settings, "HEART_BOOTSTRAP_REPLICATES", 100),
            lambda study, now, _settings: Exclusion.objects.create(
                rater=study.raters.get(), is_excluded=True, rule="checks/1", decided_at=now
            ),
        ],
        ids=["a judgment", "a claim that was given up", "a new method", "an exclusion"],
    )
    def test_a_change_in_the_next_tick(self, now, settings, change):
        study = make_judged_study()
        tick(now)

        change(study, now, settings)

        assert len(tick(now + SECOND)) == 4

    @pytest.mark.parametrize("keeps", [True, False])
    def test_a_withdrawal_unless_the_answers_are_kept(self, now, keeps):
        study = make_judged_study()
        leaver = judge(study).rater
        tick(now)

        withdraw(leaver, now + SECOND, keep_answers=keeps)

        assert bool(tick(now + SECOND)) is not keeps

    def test_a_withdrawal_that_leads_back_to_earlier_judgments(self, now):
        study = make_judged_study()
        tick(now)
        leaver = judge(study, verdict=2).rater
        tick(now + HOUR)

        withdraw(leaver, now + 2 * HOUR)
        tick(now + 2 * HOUR)

        assert newest_fit(study, EvaluatorPool.HUMAN).n_judgments == 12

    def test_a_judgment_that_was_begun_before_one_that_is_known(self, now):
        study = make_judged_study()
        late = judge(study)
        key, fields = late.pk, {"rater": late.rater, "lease": late.lease}
        type(late).objects.filter(pk=key)._raw_delete("default")
        judge(study)
        tick(now)
        judge(study, pk=key, **fields)  # its transaction ends now

        assert len(tick(now + SECOND)) == 4

    def test_a_judgment_by_a_clock_that_is_ahead(self, now):
        study = make_judged_study()
        judge(study, submitted_at=now + SECOND)
        tick(now)

        assert len(tick(now + SECOND)) == 4

    def test_a_judgment_that_comes_while_it_looks(self, now, monkeypatch):
        make_judged_study()
        look_at = claiming.look_at

        def look(*, study, now):
            found = look_at(study=study, now=now)
            judge(study)
            return found

        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(ticking, "look_at", look)
            tick(now)

        assert len(tick(now + SECOND)) == 4


class TestChangesThatWait:
    def test_are_looked_at_by_a_worker_when_their_minute_is_over(self, now, monkeypatch):
        monkeypatch.setattr(claiming, "MOVED", 0.5)
        study = make_judged_study()
        tick(now)
        judge(study)

        with nudged() as told:
            first = tick(now + 10 * SECOND)
        later = [tick(now + n * SECOND) for n in (20, 59, 60)]

        assert told == [Work.REFIT]
        assert [len(claimed) for claimed in (first, *later)] == [0, 0, 0, 4]

    def test_are_not_looked_at_before_there_are_enough(self, now, looks, monkeypatch):
        for module in (claiming, ticking):
            monkeypatch.setattr(module, "MOVED", 0.25)
        study = make_judged_study()  # of twelve judgments: three more are enough
        tick(now)
        found = []
        for n_seconds in (10, 20, 30):
            judge(study)
            found.append(tick(now + n_seconds * SECOND))

        assert [len(claimed) for claimed in found] == [0, 0, 4]
        assert len(looks) == 2

    def test_a_quiet_hour_does_not_make_the_first_judgment_wait(self, now, monkeypatch):
        for module in (claiming, ticking):
            monkeypatch.setattr(module, "MOVED", 0.25)
        study = make_judged_study()
        tick(now)
        judge(study)

        assert len(tick(now + MINUTE)) == 4
