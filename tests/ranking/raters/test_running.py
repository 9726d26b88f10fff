"""A review by ``manage.py study review`` and by tasks: run twice, nothing to do, long ago."""

import datetime as dt
import io

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Exclusion
from heart_site import schedule
from ranking import tasks
from ranking.models import RaterFigures
from tests.helpers.factories import make_llm_judgment, make_study
from tests.helpers.released import LATER, decisions

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _later(monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: LATER)


def handed_to(task, monkeypatch):
    """Return a list of the studies that are handed to that task from now on."""
    handed: list[int] = []
    monkeypatch.setattr(task, "delay", lambda *, study_id: handed.append(study_id))
    return handed


@pytest.fixture
def handed(monkeypatch):
    return handed_to(tasks.review_raters, monkeypatch)


def say(*arguments):
    out = io.StringIO()
    call_command("study", "review", *arguments, stdout=out)
    return out.getvalue()


class TestTheCommand:
    def test_on_trial_tells_who_would_go_and_how_ranks_would_move_and_writes_nothing(
        self, study, careless
    ):
        said = say(study.slug, "--dry-run")

        assert "1 of 4 raters would be left out, with 15 answers" in said
        assert f"{careless.code}: Checks failed. 4 of 4 checks failed" in said
        assert ": 60 judgments, 45 without them" in said
        assert said.count("  Elo ") == 3
        assert said.endswith("nothing was written\n")
        assert not Exclusion.objects.exists()

    def test_for_good_leaves_out_whom_the_rules_exclude_once(self, study, careless):
        first, second = say(study.slug), say(study.slug)

        assert "1 of 4 raters left out" in first
        assert "0 of 4 raters left out" in second
        assert decisions(careless) == [(True, "checks-1")]

    def test_hands_the_study_to_a_worker_and_decides_nothing_itself(self, handed, study):
        said = say(study.slug, "--queue")

        assert handed == [study.pk]
        assert said == f"a worker will review the raters of {study.slug}\n"
        assert not Exclusion.objects.exists()

    def test_refuses_a_trial_by_a_worker_and_a_study_that_does_not_exist(self, handed, study):
        with pytest.raises(CommandError, match="leave out --dry-run"):
            say(study.slug, "--queue", "--dry-run")
        with pytest.raises(CommandError, match='no study "nowhere"'):
            say("nowhere")

        assert handed == []


class TestTheTasks:
    def test_hand_each_study_that_people_judged_lately_to_a_worker(
        self, handed, study, monkeypatch
    ):
        make_llm_judgment()
        tasks.review_judged_studies()
        assert handed == [study.pk]

        handed.clear()
        monkeypatch.setattr(timezone, "now", lambda: LATER + dt.timedelta(days=1))
        tasks.review_judged_studies()
        assert handed == []

    def test_decide_once_however_often_they_run(self, study, careless):
        tasks.review_raters(study_id=study.pk)
        tasks.review_raters(study_id=study.pk)

        assert decisions(careless) == [(True, "checks-1")]
        assert Exclusion.objects.count() == 1

    def test_have_studies_measured_that_nobody_measured(self, study, monkeypatch):
        make_study()
        handed = handed_to(tasks.measure_raters, monkeypatch)
        monkeypatch.setattr(timezone, "now", lambda: LATER + dt.timedelta(days=9))

        tasks.review_judged_studies()
        tasks.measure_raters(study_id=study.pk)
        tasks.measure_raters(study_id=study.pk)
        tasks.review_judged_studies()

        assert handed == [study.pk]
        assert RaterFigures.objects.count() == 4

    def test_look_for_judged_studies_at_the_interval_that_is_set(self):
        beat = schedule.beat_schedule(refit_seconds=2, review_seconds=77)

        entry = beat["review-judged-studies"]
        assert (entry["task"], entry["schedule"]) == ("ranking.tasks.review_judged_studies", 77)
