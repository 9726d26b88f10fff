"""The tasks that hold raters against the rules: run twice, nothing to do, long ago."""

import datetime as dt

import pytest
from django.utils import timezone

from annotation.models import Exclusion
from heart_site import schedule
from ranking import tasks
from tests.helpers.factories import make_llm_judgment
from tests.helpers.released import LATER, decisions, make_reviewed_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def handed(monkeypatch):
    handed: list[int] = []
    monkeypatch.setattr(timezone, "now", lambda: LATER)
    monkeypatch.setattr(tasks.review_raters, "delay", lambda *, study_id: handed.append(study_id))
    return handed


class TestReviewJudgedStudies:
    def test_hands_each_study_that_people_judged_lately_to_a_worker(self, handed):
        study, _careless = make_reviewed_study()
        make_llm_judgment()

        tasks.review_judged_studies()

        assert handed == [study.pk]

    def test_leaves_studies_alone_that_nobody_judged_for_a_day(self, handed, monkeypatch):
        make_reviewed_study()
        monkeypatch.setattr(timezone, "now", lambda: LATER + dt.timedelta(days=1))

        tasks.review_judged_studies()

        assert handed == []


class TestReviewRaters:
    def test_decides_once_however_often_it_runs(self, handed):
        study, careless = make_reviewed_study()

        tasks.review_raters(study_id=study.pk)
        tasks.review_raters(study_id=study.pk)

        assert decisions(careless) == [(True, "checks-1")]
        assert Exclusion.objects.count() == 1


class TestTheSchedule:
    def test_looks_for_judged_studies_at_the_interval_that_is_set(self):
        beat = schedule.beat_schedule(refit_seconds=2, review_seconds=77)

        entry = beat["review-judged-studies"]
        assert (entry["task"], entry["schedule"]) == ("ranking.tasks.review_judged_studies", 77)
