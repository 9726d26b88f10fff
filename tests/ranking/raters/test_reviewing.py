"""Holding the raters of a study against its rules: on trial, for good, and again."""

import datetime as dt

import pytest
from django.contrib.auth.models import User

from annotation.choices import Protocol
from annotation.models import Exclusion
from annotation.quality.services import excluding
from ranking.fits import services as fit_services
from ranking.judgments.analysis_set import n_judgments
from ranking.models import Rating
from ranking.raters import services as rater_services
from ranking.raters.queries import measure
from tests.helpers.factories import make_llm_judgment, make_rater, make_study
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
        reader = make_rater(study=study)
        for pair in pairs:
            answer(pair, reader, 1)
        answer_checks(reader, checks, 1)
        careless = make_rater(study=study)
        for pair in pairs:
            answer(pair, careless, -2)
        answer_checks(careless, checks, -1)

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
        assert decisions(careless) == [(True, "checks-1")]
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

        assert decisions(rushing) == [(True, "times-1")]

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
        assert infit is not None
        assert infit > 1.3
        assert all(other is not None and other < infit for other in others)
        assert [finding.rule for finding in rows[contrary.code].warnings] == [
            "misfit-1",
            "outlier-1",
        ]

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
