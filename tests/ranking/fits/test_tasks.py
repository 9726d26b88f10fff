"""Tasks that compute ratings and look into them, twice or lost, and workers at one row."""

import datetime as dt
from dataclasses import dataclass, field
from functools import partial

import pytest

from access.nudges import Work
from annotation.raters.services.withdrawing import withdraw_rater
from completions.runs.services import exclusive
from ranking import refits, tasks
from ranking.choices import EvaluatorPool, FitState
from ranking.fits import services
from ranking.judgments.method import code_version
from ranking.models import Analysis, Fit
from ranking.report import services as report_services
from tests.helpers.factories import HOUR, NOW, make_judgment
from tests.helpers.factories_written_once import make_fit
from tests.helpers.judged import make_judged_study, newest_fit
from tests.helpers.observed import nudged
from tests.helpers.threads import together

START = NOW + HOUR


@dataclass
class Queue:
    """The messages that were sent to workers."""

    analyses: list[int] = field(default_factory=list)
    fits: list[int] = field(default_factory=list)


def rated():
    """Return a study with ratings, in which nothing is found yet."""
    study = make_judged_study(n_dialogues=3)
    services.refit_study(study=study, clock=lambda: START)
    return study


def make_fit_to_look_into():
    """A fit whose analyses are due, though its judgments are not there."""
    return make_fit(state=FitState.DONE, ended_at=START, code_version=code_version())


@pytest.fixture
def queue(db, _two_kinds, monkeypatch, settings, site_clock):
    settings.HEART_ANALYSIS_PACE_SECONDS = 0.0  # as with workers of their own
    site_clock.at = START
    queue = Queue()
    monkeypatch.setattr(
        tasks.run_analysis, "delay", lambda *, analysis_id: queue.analyses.append(analysis_id)
    )
    monkeypatch.setattr(tasks.run_fit, "delay", lambda *, fit_id: queue.fits.append(fit_id))
    return queue


class TestClaimDueAnalyses:
    def test_hands_one_analysis_out_once_and_again_when_its_worker_is_lost(self, queue, site_clock):
        make_fit_to_look_into()
        for _ in range(2):
            tasks.claim_due_analyses()
        assert queue.analyses == [Analysis.objects.get().pk]

        site_clock.at += exclusive.CLAIM_LENGTH
        tasks.claim_due_analyses()

        assert queue.analyses == [Analysis.objects.get().pk] * 2


class TestRunAnalysis:
    def test_run_twice_stores_once_and_asks_once_for_the_next(self, queue):
        rated()
        tasks.claim_due_analyses()

        with nudged() as sent:
            for _ in range(2):
                tasks.run_analysis(analysis_id=queue.analyses[0])

        assert Analysis.objects.get().state == FitState.DONE
        assert sent == [Work.ANALYSE]

    def test_asks_again_once_its_pace_lets_others_begin(self, queue, settings):
        settings.HEART_ANALYSIS_PACE_SECONDS = 10.0
        make_fit_to_look_into()
        tasks.claim_due_analyses()

        with nudged() as sent:
            tasks.run_analysis(analysis_id=queue.analyses[0])

        assert sent == [Work.ANALYSE] * 2

    def test_an_analysis_that_is_gone_is_no_error(self, queue):
        with nudged() as sent:
            tasks.run_analysis(analysis_id=123_456)

        assert sent == []


class TestRefitNow:
    def test_hands_each_fit_out_once(self, queue):
        study = make_judged_study()

        for _ in range(2):
            tasks.refit_now(study_id=study.pk)

        assert sorted(queue.fits) == sorted(study.fits.values_list("pk", flat=True))
        assert len(queue.fits) == 4

    def test_begins_the_analyses_where_nothing_changed(self, queue):
        study = rated()
        for _ in range(2):
            tasks.refit_now(study_id=study.pk)

        assert queue.fits == []
        assert len(queue.analyses) == len(set(queue.analyses)) == 4


class TestRefitChangedStudies:
    def test_hands_each_changed_fit_to_a_worker_once(self, queue):
        study, _other = make_judged_study(), make_judged_study()

        tasks.refit_changed_studies()
        tasks.refit_changed_studies()

        assert sorted(queue.fits) == sorted(Fit.objects.values_list("pk", flat=True))
        assert len(queue.fits) == 8  # two studies, two pools, all and regular contexts

        make_judgment(comparison=study.comparisons.first())
        tasks.refit_changed_studies()

        assert len(queue.fits) == 8 + 4

    def test_shows_no_ratings_any_more_once_every_judgment_was_taken_back(self, queue, site_clock):
        study = make_judged_study()
        tasks.refit_changed_studies()
        Fit.objects.update(state=FitState.DONE, ended_at=START)
        queue.fits.clear()
        study.comparisons.update(shown_first_as_a=9, shown_first_as_b=9)
        site_clock.at += HOUR
        withdraw_rater(rater=study.raters.get(), now=site_clock.at)

        tasks.refit_changed_studies()
        for fit_id in queue.fits:
            tasks.run_fit(fit_id=fit_id)
        queue.fits.clear()
        tasks.refit_changed_studies()

        fit = newest_fit(study, EvaluatorPool.HUMAN)
        assert (fit.state, fit.n_judgments, fit.ratings.count()) == (FitState.REFUSED, 0, 0)
        assert queue.fits == []

    def test_hands_out_again_what_a_lost_worker_had(self, queue, site_clock):
        make_judged_study()
        tasks.refit_changed_studies()
        lost = list(queue.fits)
        site_clock.at += HOUR

        tasks.refit_changed_studies()

        assert queue.fits == lost * 2


class TestRunFit:
    def test_a_fit_that_is_gone_is_no_error(self, queue):
        tasks.run_fit(fit_id=123_456)

        assert not Fit.objects.exists()


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
