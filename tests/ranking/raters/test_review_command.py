"""``manage.py study review``: who would go, who goes, and how ranks move."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Exclusion
from ranking import tasks
from tests.helpers.released import LATER, decisions, make_reviewed_study

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _later(monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: LATER)


def say(*arguments):
    out = io.StringIO()
    call_command("study", "review", *arguments, stdout=out)
    return out.getvalue()


class TestOnTrial:
    def test_tells_who_would_go_and_how_ranks_would_move_and_writes_nothing(self):
        study, careless = make_reviewed_study()

        said = say(study.slug, "--dry-run")

        assert "1 of 4 raters would be left out, with 15 answers" in said
        assert f"{careless.code}: Checks failed. 4 of 4 checks failed" in said
        assert ": 60 judgments, 45 without them" in said
        assert said.count("  Elo ") == 3
        assert said.endswith("nothing was written\n")
        assert not Exclusion.objects.exists()


class TestForGood:
    def test_leaves_out_whom_the_rules_exclude_once(self):
        study, careless = make_reviewed_study()

        first, second = say(study.slug), say(study.slug)

        assert "1 of 4 raters left out" in first
        assert "0 of 4 raters left out" in second
        assert decisions(careless) == [(True, "checks-1")]


class TestByAWorker:
    @pytest.fixture
    def handed(self, monkeypatch):
        handed: list[int] = []
        monkeypatch.setattr(
            tasks.review_raters, "delay", lambda *, study_id: handed.append(study_id)
        )
        return handed

    def test_hands_the_study_over_and_decides_nothing_itself(self, handed):
        study, _careless = make_reviewed_study()

        said = say(study.slug, "--queue")

        assert handed == [study.pk]
        assert said == f"a worker will review the raters of {study.slug}\n"
        assert not Exclusion.objects.exists()

    def test_refuses_a_trial(self, handed):
        study, _careless = make_reviewed_study()

        with pytest.raises(CommandError, match="leave out --dry-run"):
            say(study.slug, "--queue", "--dry-run")

        assert handed == []


class TestMistakes:
    def test_name_the_study_that_does_not_exist(self):
        with pytest.raises(CommandError, match='no study "nowhere"'):
            say("nowhere")
