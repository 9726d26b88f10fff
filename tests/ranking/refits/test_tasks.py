"""The tasks that keep ratings up to date: run twice, lost on the way, nothing to do."""

import datetime as dt
from dataclasses import dataclass, field

import pytest
from django.utils import timezone

from annotation.raters.services.withdrawing import withdraw_rater
from ranking import tasks
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.fits.queries import latest_fit
from ranking.models import Fit
from tests.helpers.factories import NOW, make_judgment, make_rater
from tests.helpers.judged import make_judged_study

pytestmark = pytest.mark.django_db

LATER = dt.timedelta(hours=1)


@dataclass
class Clock:
    """The time as the tasks see it, and the fits that were handed to workers."""

    time: dt.datetime = NOW + LATER
    handed: list[int] = field(default_factory=list)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timezone, "now", lambda: clock.time)
    monkeypatch.setattr(tasks.run_fit, "delay", lambda *, fit_id: clock.handed.append(fit_id))
    return clock


def refit(clock):
    """Compute all that is out of date."""
    tasks.refit_changed_studies()
    for fit_id in clock.handed:
        tasks.run_fit(fit_id=fit_id)
    clock.handed.clear()


def withdraw(rater, clock, *, keep_answers=False):
    """Take a rater back an hour later."""
    rater.study.comparisons.update(shown_first_as_a=9, shown_first_as_b=9)
    clock.time += LATER
    withdraw_rater(rater=rater, now=clock.time, keep_answers=keep_answers)


def fit_of_people(study):
    fit = latest_fit(study=study, pool=EvaluatorPool.HUMAN, context_set=ContextSet.ALL)
    assert fit is not None
    return fit


class TestRefitChangedStudies:
    def test_hands_each_changed_fit_to_a_worker_once(self, clock):
        study, _other = make_judged_study(), make_judged_study()

        tasks.refit_changed_studies()
        tasks.refit_changed_studies()

        assert sorted(clock.handed) == sorted(Fit.objects.values_list("pk", flat=True))
        assert len(clock.handed) == 8  # two studies, two pools, all and regular contexts

        make_judgment(comparison=study.comparisons.first())
        tasks.refit_changed_studies()

        assert len(clock.handed) == 8 + 4

    def test_does_nothing_while_nothing_changes(self, clock):
        make_judged_study()
        refit(clock)

        tasks.refit_changed_studies()

        assert clock.handed == []

    @pytest.mark.parametrize("keeps", [True, False])
    def test_notices_a_withdrawal_unless_the_answers_are_kept(self, clock, keeps):
        study = make_judged_study()
        leaver = make_rater(study=study)
        for comparison in study.comparisons.all():
            make_judgment(comparison=comparison, rater=leaver)
        refit(clock)

        withdraw(leaver, clock, keep_answers=keeps)
        tasks.refit_changed_studies()

        assert bool(clock.handed) is not keeps

    def test_notices_a_withdrawal_that_leads_back_to_earlier_judgments(self, clock):
        study = make_judged_study()
        refit(clock)
        clock.time += LATER
        leaver = make_rater(study=study)
        make_judgment(comparison=study.comparisons.all()[0], rater=leaver, verdict=2)
        refit(clock)

        withdraw(leaver, clock)
        refit(clock)

        assert fit_of_people(study).n_judgments == 12

    def test_shows_no_ratings_any_more_once_every_judgment_was_taken_back(self, clock):
        study = make_judged_study()
        refit(clock)

        withdraw(study.raters.get(), clock)
        refit(clock)
        tasks.refit_changed_studies()

        fit = fit_of_people(study)
        assert (fit.state, fit.n_judgments, fit.ratings.count()) == (FitState.REFUSED, 0, 0)
        assert clock.handed == []

    def test_hands_out_again_what_a_lost_worker_had(self, clock):
        make_judged_study()
        tasks.refit_changed_studies()
        lost = list(clock.handed)
        clock.time += LATER

        tasks.refit_changed_studies()

        assert clock.handed == lost * 2


class TestRunFit:
    def test_stores_once_however_often_it_runs(self, clock):
        make_judged_study()
        tasks.refit_changed_studies()

        for _ in range(2):
            tasks.run_fit(fit_id=clock.handed[0])

        fit = Fit.objects.get(pk=clock.handed[0])
        assert (fit.state, fit.ended_at, fit.ratings.count()) == (FitState.DONE, clock.time, 3)

    def test_a_fit_that_is_gone_is_no_error(self, clock):
        tasks.run_fit(fit_id=123_456)

        assert not Fit.objects.exists()
