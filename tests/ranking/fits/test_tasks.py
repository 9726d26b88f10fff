"""Tasks that look into ratings, run twice or lost on the way, and workers who meet at one row."""

import datetime as dt
from dataclasses import dataclass, field
from functools import partial

import pytest
from django.utils import timezone

from access.nudges import Work
from annotation.models import Study
from ranking import refits, tasks
from ranking.choices import FitState
from ranking.fits import services
from ranking.models import Analysis
from ranking.report import services as report_services
from tests.helpers.factories import HOUR, NOW
from tests.helpers.judged import make_judged_study
from tests.helpers.observed import nudged
from tests.helpers.threads import together

START = NOW + HOUR


@dataclass
class Queue:
    """The time as the tasks see it, and the messages that were sent."""

    time: dt.datetime = START
    analyses: list[int] = field(default_factory=list)
    fits: list[int] = field(default_factory=list)


def rated():
    """Return a study with ratings, in which nothing is found yet."""
    study = make_judged_study(n_dialogues=3)
    services.refit_study(study=study, clock=lambda: START)
    return study


@pytest.fixture
def queue(db, _two_kinds, monkeypatch, settings):
    settings.HEART_ANALYSIS_PACE_SECONDS = 0.0  # as with workers of their own
    rated()
    queue = Queue()
    monkeypatch.setattr(timezone, "now", lambda: queue.time)
    monkeypatch.setattr(
        tasks.run_analysis, "delay", lambda *, analysis_id: queue.analyses.append(analysis_id)
    )
    monkeypatch.setattr(tasks.run_fit, "delay", lambda *, fit_id: queue.fits.append(fit_id))
    return queue


class TestClaimDueAnalyses:
    def test_hands_one_analysis_out_once_and_again_when_its_worker_is_lost(self, queue):
        for _ in range(2):
            tasks.claim_due_analyses()
        assert queue.analyses == [Analysis.objects.get().pk]

        queue.time += report_services.CLAIM_LENGTH
        tasks.claim_due_analyses()

        assert queue.analyses == [Analysis.objects.get().pk] * 2

    def test_a_message_that_was_lost_is_made_good_by_later_ticks(self, queue):
        tasks.claim_due_analyses()
        queue.analyses.clear()  # as if the broker had been flushed
        for _ in range(60):
            queue.time += dt.timedelta(seconds=15)
            tasks.claim_due_analyses()
            for pk in queue.analyses:
                tasks.run_analysis(analysis_id=pk)
            queue.analyses.clear()

        states = Analysis.objects.values_list("state", flat=True)
        assert list(states) == [FitState.DONE] * 8


class TestRunAnalysis:
    def test_run_twice_stores_once_and_asks_once_for_the_next(self, queue):
        tasks.claim_due_analyses()

        with nudged() as sent:
            for _ in range(2):
                tasks.run_analysis(analysis_id=queue.analyses[0])

        assert Analysis.objects.get().state == FitState.DONE
        assert sent == [Work.ANALYSE]

    def test_asks_again_once_its_pace_lets_others_begin(self, queue, settings):
        settings.HEART_ANALYSIS_PACE_SECONDS = 10.0
        tasks.claim_due_analyses()

        with nudged() as sent:
            tasks.run_analysis(analysis_id=queue.analyses[0])

        assert sent == [Work.ANALYSE] * 2

    def test_one_asks_for_the_next_until_all_are_done(self, queue):
        sent = [Work.ANALYSE]
        while sent:
            with nudged() as sent:
                tasks.claim_due_analyses()
                while queue.analyses:
                    tasks.run_analysis(analysis_id=queue.analyses.pop())

        assert Analysis.objects.filter(state=FitState.DONE).count() == 8

    def test_an_analysis_that_is_gone_is_no_error(self, queue):
        with nudged() as sent:
            tasks.run_analysis(analysis_id=123_456)

        assert sent == []


class TestRefitNow:
    def test_hands_each_fit_out_once_and_the_tick_again_when_its_worker_is_lost(self, queue):
        study = make_judged_study()
        for _ in range(2):
            tasks.refit_now(study_id=study.pk)
        fits = sorted(study.fits.values_list("pk", flat=True))
        assert sorted(queue.fits) == fits
        assert len(fits) == 4

        queue.time += dt.timedelta(minutes=2)
        tasks.refit_changed_studies()

        assert sorted(queue.fits) == sorted(fits * 2)

    def test_begins_the_analyses_where_nothing_changed(self, queue):
        for _ in range(2):
            tasks.refit_now(study_id=Study.objects.get().pk)

        assert queue.fits == []
        assert len(queue.analyses) == len(set(queue.analyses)) == 4


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
class TestWorkersAtOneMoment:
    """In real threads."""

    @pytest.fixture(autouse=True)
    def _rated(self, shared_database, _two_kinds):
        rated()

    def test_two_ticks_claim_an_analysis_once(self):
        claimed = together([partial(report_services.claim_due_analyses, now=START)] * 2)

        keys = [key for found in claimed for key in found]
        assert len(keys) == len(set(keys)) == Analysis.objects.count()

    def test_two_who_compute_one_analysis_store_it_once(self):
        (key,) = report_services.claim_due_analyses(now=START)

        stored = together(
            [partial(report_services.run_analysis, analysis_id=key, clock=lambda: START)] * 2
        )

        assert sorted(stored) == [False, True]
        assert Analysis.objects.get().state == FitState.DONE

    def test_two_who_take_over_a_lost_claim_get_it_once(self):
        report_services.claim_due_analyses(now=START)
        later = START + dt.timedelta(hours=1)

        found = together([partial(report_services.reclaim_lost_analyses, now=later)] * 2)

        assert sorted(map(len, found)) == [0, 1]

    def test_two_who_ask_for_a_refit_begin_each_fit_once(self):
        study = make_judged_study(n_dialogues=3)

        found = together([partial(refits.claim_refit, study_id=study.pk, now=START)] * 2)

        keys = [key for one in found for key in one.fits]
        assert len(keys) == len(set(keys)) == study.fits.count()
