"""Raters held against the rules of a study: on trial, for good, by command and by tasks."""

import datetime as dt
import io

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.choices import Protocol
from annotation.models import Exclusion
from annotation.quality.services import excluding
from heart_site import schedule
from ranking import tasks
from ranking.fits import services as fit_services
from ranking.judgments.analysis_set import n_judgments
from ranking.models import RaterFigures, Rating
from ranking.raters import services as rater_services
from ranking.raters.queries import measure
from ranking.raters.services.reviewing import MOVES
from tests.helpers.factories import make_llm_judgment, make_rater, make_study
from tests.helpers.judged import delete_text
from tests.helpers.released import (
    LATER,
    answer,
    answer_checks,
    decisions,
    make_checks,
    make_pairs,
    read,
)

pytestmark = pytest.mark.django_db

DAY = dt.timedelta(days=1)


@pytest.fixture(autouse=True)
def _later(monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: LATER)


def review(study, *, dry_run=False, now=LATER):
    return rater_services.review_raters(study=study, dry_run=dry_run, now=now)


class TestADryRun:
    def test_tells_who_would_go_and_writes_nothing(self, study, careless):
        found = review(study, dry_run=True)

        assert [row.code for row in found.leaving] == [careless.code]
        assert found.decisions == ()
        assert not Exclusion.objects.exists()

    def test_tells_how_ranks_would_move(self):
        """One reader prefers the first system slightly, one heavy hand the last by far."""
        study = make_study(judgments_per_pair=2)
        pairs, checks = make_pairs(study), make_checks(study)
        for on_pairs, on_checks in ((1, 1), (-2, -1)):
            rater = make_rater(study=study)
            for pair in pairs:
                answer(pair, rater, on_pairs)
            answer_checks(rater, checks, on_checks)

        (people,) = review(study, dry_run=True).movements

        first = pairs[0].first.system.slug
        move = next(move for move in people.moves if move.slug == first)
        assert (move.rank_before, move.rank_after, move.places) == (3, 1, 2)
        assert (people.n_before, people.n_after) == (30, 15)

    def test_shows_the_ratings_of_the_leaderboard_and_those_after_the_real_run(self, study):
        fit_services.refit_study(study=study, clock=lambda: LATER)
        stored = Rating.objects.filter(fit__study=study, fit__pool="HUMAN", fit__context_set="ALL")

        (foretold,) = review(study, dry_run=True).movements

        assert {move.slug: (move.rank_before, move.elo_before) for move in foretold.moves} == {
            rating.system.slug: (rating.rank, pytest.approx(rating.elo)) for rating in stored
        }
        review(study)
        (now_so,) = review(study, dry_run=True).movements
        assert [(move.slug, move.elo_after) for move in foretold.moves] == [
            (move.slug, move.elo_before) for move in now_so.moves
        ]
        assert foretold.n_after == now_so.n_before == n_judgments(study=study, as_of=LATER)

    @pytest.mark.parametrize(
        "change",
        [
            lambda pair, _rater: answer(pair, make_rater(study=pair.study), 1),
            lambda _pair, rater: Exclusion.objects.create(
                rater=rater, is_excluded=True, rule="manual", reason="asked", decided_at=LATER
            ),
            lambda pair, _rater: make_rater(
                study=pair.study, state="WITHDRAWN", ended_at=LATER, data_kept=False
            ),
            lambda pair, _rater: delete_text(pair.first_id),
        ],
        ids=["an answer", "a decision", "a withdrawal", "the deletion of a text"],
    )
    def test_is_out_of_date_after_whatever_moves_ranks(self, study, careless, change):
        pair, before = study.comparisons.order_by("pk").first(), MOVES.basis(study)
        assert MOVES.basis(study) == before

        change(pair, careless)

        assert MOVES.basis(study) != before

    def test_says_why_ratings_cannot_be_told(self):
        study = make_study()
        answer(make_pairs(study, n_contexts=1)[0], make_rater(study=study), 1)

        (people,) = review(study, dry_run=True).movements

        assert people.refusal_before == ""  # two systems, one soft win: there is a maximum
        empty = review(make_study(), dry_run=True).movements
        assert [movement.refusal_before for movement in empty] == ["There are no judgments."]

    def test_shows_the_combined_ratings_too_where_judges_judged(self, study):
        make_llm_judgment(comparison=study.comparisons.filter(purpose="MAIN").first())

        movements = review(study, dry_run=True).movements

        assert [movement.n_before - movements[0].n_before for movement in movements] == [0, 1]


class TestARealRun:
    def test_excludes_once_who_fails_the_checks_and_counts_their_judgments_until_then(
        self, study, careless
    ):
        before = n_judgments(study=study, as_of=LATER)

        (decision,) = review(study).decisions
        review(study, now=LATER + DAY)

        assert decision.rater_id == careless.pk
        assert decision.evidence == {
            "value": 1.0,
            "threshold": 0.5,
            "n_checks": 4,
            "n_failed": 4,
            "failed_by_kind": {"GOLD": 4},
        }
        assert decisions(careless) == [(True, "checks-2")]
        assert n_judgments(study=study, as_of=LATER) == before - 15
        assert n_judgments(study=study, as_of=LATER - dt.timedelta(seconds=1)) == before

    def test_excludes_who_rushes(self):
        study = make_study(judgments_per_pair=4)
        pairs = make_pairs(study)
        for _reader in range(3):
            read(make_rater(study=study), pairs)
        rushing = make_rater(study=study)
        for pair in pairs:
            answer(pair, rushing, 1, seconds=1)

        review(study)

        assert decisions(rushing) == [(True, "times-2")]

    def test_leaves_who_was_taken_back_until_there_is_new_evidence(self, study, careless):
        review(study)
        boss = User.objects.create_user("boss")
        excluding.reinstate_rater(rater=careless, reason="?", by=boss, now=LATER)

        assert review(study, now=LATER + DAY).decisions == ()

        answer_checks(careless, make_checks(study), -1, issued_at=LATER + DAY)
        assert len(review(study, now=LATER + 2 * DAY).decisions) == 1

    def test_does_nothing_when_others_would_go_than_those_agreed_to(self, study, careless):
        with pytest.raises(rater_services.ReviewChangedError):
            rater_services.review_raters(study=study, dry_run=False, now=LATER, expected=["R0"])

        assert decisions(careless) == []

    def test_leaves_judges_alone(self, study):
        comparison = study.comparisons.filter(purpose="MAIN").first()
        make_llm_judgment(comparison=comparison, verdict=-5)

        review(study)

        assert not Exclusion.objects.filter(judge__isnull=False).exists()

    def test_does_nothing_in_a_study_of_ratings_without_pairs(self):
        study = make_study(protocol=Protocol.LIKERT)

        assert review(study).decisions == ()


class TestTheRowsOfRaters:
    def test_have_the_figures_of_the_monitor_in_few_queries(
        self, study, careless, django_assert_max_num_queries
    ):
        with django_assert_max_num_queries(6):
            rows = {row.code: row for row in measure(study, as_of=LATER).rows}

        assert len(rows) == 4
        row = rows[careless.code]
        assert (row.n_answers, row.n_checks, row.n_passed) == (15, 4, 0)
        assert row.median_seconds == 47
        assert row.share_a == pytest.approx(12 / 15)
        assert row.agreement == 1.0
        assert row.status == "going"

    def test_hold_a_rater_against_strengths_of_the_others_alone(self):
        """With the contrary rater's own answers in them, the strengths would be softer."""
        study = make_study(judgments_per_pair=4)
        pairs = make_pairs(study, n_contexts=8)
        contrary = make_rater(study=study)
        for place, pair in enumerate(pairs):
            answer(pair, contrary, 1 if place % 4 == 3 else -1)
        for _reader in range(3):
            read(make_rater(study=study), pairs)

        rows = {row.code: row for row in measure(study, as_of=LATER).rows}

        others = [row.infit for code, row in rows.items() if code != contrary.code]
        infit = rows[contrary.code].infit
        assert infit > 1.3
        assert all(other < infit for other in others)
        warnings = [one.rule for one in rows[contrary.code].findings if not one.is_exclusion]
        assert warnings == ["misfit-2", "outlier-2"]

    def test_know_no_misfit_where_nothing_connects_the_systems(self):
        study = make_study()
        answer(make_pairs(study, n_contexts=1)[0], make_rater(study=study), 1)

        (row,) = measure(study, as_of=LATER).rows

        assert (row.infit, row.agreement) == (None, None)

    def test_know_no_misfit_of_a_rater_without_whom_nothing_connects_the_systems(self):
        study = make_study()
        pairs = make_pairs(study, n_contexts=4)
        only, other = make_rater(study=study), make_rater(study=study)
        for place, pair in enumerate(pairs):
            answer(pair, only, 1 if place % 4 else -1)
        for pair in pairs[::3]:  # of one pair of systems alone
            answer(pair, other, 1)

        infits = {row.code: row.infit for row in measure(study, as_of=LATER).rows}

        assert infits[only.code] is None
        assert infits[other.code] is not None


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
        assert decisions(careless) == [(True, "checks-2")]

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

        assert decisions(careless) == [(True, "checks-2")]
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
