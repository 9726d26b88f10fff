"""Ratings brought up to date on request, and held against their judgments."""

import datetime as dt

import pytest
from django.db import connection

from ranking import refits
from ranking.choices import FitState
from ranking.fits import queries as fit_queries
from ranking.fits import services as fit_services
from ranking.fits.services import claiming
from ranking.models import Analysis, DimensionRate, Fit, HumanRating, Rating
from ranking.report import services as report_services
from tests.helpers.factories import HOUR, NOW, make_judgment, make_study
from tests.helpers.factories_written_once import make_dimension_rate, make_fit, make_human_rating
from tests.helpers.judged import fit_one, make_judged_study, newest_fit

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_two_kinds")]

START = NOW + HOUR
SECOND = dt.timedelta(seconds=1)


def ask(study, now=START):
    return refits.claim_refit(study_id=study.pk, now=now)


class TestClaimRefit:
    def test_claims_what_changed_however_little_and_however_soon_and_once(self, study, monkeypatch):
        monkeypatch.setattr(claiming, "MOVED", 0.5)
        make_judgment(comparison=study.comparisons.first(), submitted_at=START)

        assert fit_services.claim_changed_fits(study=study, now=START + SECOND) == []
        first = ask(study, START + SECOND)
        make_judgment(comparison=study.comparisons.last(), submitted_at=START)
        second = ask(study, START + 2 * SECOND)

        assert (len(first.fits), first.analyses) == (4, ())
        assert set(Fit.objects.filter(pk__in=first.fits).values_list("state", flat=True)) == {
            FitState.RUNNING
        }
        assert (second.fits, second.analyses, second.n_under_way) == ((), (), 4)

    def test_what_it_claims_is_analysed_without_waiting(self, study):
        first = ask(study)
        for pk in first.analyses:
            report_services.run_analysis(analysis_id=pk, clock=lambda: START)
        make_judgment(comparison=study.comparisons.first(), submitted_at=START)
        for pk in ask(study, START + SECOND).fits:
            fit_services.run_fit(fit_id=pk, clock=lambda: START + SECOND)

        (claimed,) = report_services.claim_due_analyses(now=START + 2 * SECOND)

        assert Analysis.objects.get(pk=claimed).fit == newest_fit(study)

    def test_what_is_under_way_counts_as_asked_for_so_that_its_analyses_do_not_wait(self, study):
        running, _other = make_fit(study=study, claimed_at=START), make_fit()

        ask(study, START + SECOND)

        assert list(Fit.objects.filter(is_on_request=True)) == [running]

    def test_a_worker_that_is_lost_keeps_nobody_waiting(self, study):
        make_fit(study=study, claimed_at=START)

        assert ask(study, START + SECOND).n_under_way == 1
        assert ask(study, START + fit_queries.CLAIM_LENGTH).n_under_way == 0

    def test_a_fit_under_way_in_another_study_does_not_matter(self, study):
        make_fit(claimed_at=START)

        assert ask(study).n_under_way == 0

    def test_where_nothing_changed_analyses_are_begun_and_begun_once(self, study):
        first, second = ask(study), ask(study)

        assert first.fits == second.fits == second.analyses == ()
        rows = Analysis.objects.filter(pk__in=first.analyses)
        assert {row.fit for row in rows} == set(Fit.objects.all())

    def test_a_study_without_judgments_has_nothing_to_claim(self):
        assert ask(make_study()) == refits.RefitClaim()


def tamper(table, column, pk, number):
    """Change a figure behind the models, as nothing of ours would."""
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET {column} = %s WHERE id = %s", [number, pk])  # noqa: S608


class TestVerifyFit:
    def test_a_fit_is_what_its_judgments_give_whatever_came_later(self, study):
        make_judgment(comparison=study.comparisons.first(), submitted_at=START + SECOND)

        for fit in Fit.objects.all():
            found = fit_services.verify_fit(fit)
            assert found.is_sound, found
            assert found.n_figures >= 3 * 11

    @pytest.mark.parametrize(
        ("column", "by"), [("elo", 1e-5), ("elo_high", 1e-5), ("theta", 1e-8), ("rank_high", 1)]
    )
    def test_a_figure_that_was_changed_is_found(self, fit, column, by):
        rating = fit.ratings.order_by("rank").first()
        assert rating is not None
        tamper("ranking_rating", column, rating.pk, getattr(rating, column) + by)

        found = fit_services.verify_fit(fit)

        (difference,) = found.differences
        assert not found.is_sound
        assert (difference.what, difference.figure) == (rating.system.slug, column)
        assert difference.computed == getattr(rating, column)

    def test_a_figure_that_is_gone_or_too_many_is_found(self, fit):
        rating = fit.ratings.first()
        make_dimension_rate(rating=rating, dimension="E", wins=3, n_marks=5)
        make_human_rating(fit=fit)
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM ranking_rating WHERE id = %s", [fit.ratings.last().pk])

        found = fit_services.verify_fit(fit)

        figures = {(one.figure, one.stored is None) for one in found.differences}
        assert {("E wins", False), ("n_contexts", False), ("elo", True)} <= figures

    def test_the_rates_of_dimensions_and_of_people_are_held_against_theirs(self):
        fit = fit_one(make_judged_study(n_dialogues=3, with_llm=True), START)
        rate = DimensionRate.objects.filter(rating__fit=fit, wins__gte=1).first()
        assert rate is not None
        tamper("ranking_dimensionrate", "wins", rate.pk, rate.wins - 1)

        (difference,) = fit_services.verify_fit(fit).differences

        assert (difference.figure, difference.stored) == (f"{rate.dimension} wins", rate.wins - 1)
        assert not HumanRating.objects.exists()

    def test_judgments_that_are_others_now_are_named(self, study, fit):
        make_judgment(comparison=study.comparisons.first())  # a transaction that came in late

        found = fit_services.verify_fit(fit)

        assert not found.is_sound
        assert "no longer those" in found.trouble

    def test_says_when_other_code_computed_it(self, study):
        Fit.objects.update(code_version="numerics-old")

        found = fit_services.verify_fit(newest_fit(study))

        assert (found.is_other_code, found.is_sound) == (True, True)

    def test_a_refusal_is_held_against_its_reason(self, fit):
        refused, done = fit_one(make_judged_study(n_dialogues=1), START), fit

        assert refused.state == FitState.REFUSED
        assert fit_services.verify_fit(refused).is_sound
        refused.refusal = "For another reason."
        assert "For another reason." in fit_services.verify_fit(refused).trouble
        done.state, done.refusal = FitState.REFUSED, "One dialogue."
        assert "stored as refused" in fit_services.verify_fit(done).trouble

    def test_writes_nothing(self, fit, django_assert_max_num_queries):
        before = list(Rating.objects.values())

        with django_assert_max_num_queries(30) as queries:
            fit_services.verify_fit(fit)

        # On PostgreSQL a reading asks for room to add up, for its own transaction.
        assert {query["sql"].split()[0] for query in queries} <= {"SELECT", "COPY", "SET"}
        assert list(Rating.objects.values()) == before
