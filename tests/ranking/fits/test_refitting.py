"""Ratings brought up to date on request, and held against their judgments; the command of both."""

import datetime as dt
import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from ranking import refits
from ranking.choices import AnalysisKind, FitState
from ranking.fits import queries as fit_queries
from ranking.fits import services as fit_services
from ranking.fits.services import claiming
from ranking.models import Analysis, DimensionRate, Fit, HumanRating, Rating
from ranking.report import services as report_services
from tests.helpers.factories import HOUR, NOW, make_judgment, make_study
from tests.helpers.factories_written_once import (
    make_analysis,
    make_dimension_rate,
    make_fit,
    make_human_rating,
)
from tests.helpers.judged import fit_one, make_judged_study, newest_fit

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_two_kinds")]

START = NOW + HOUR
SECOND = dt.timedelta(seconds=1)


@pytest.fixture(autouse=True)
def _now(site_clock):
    site_clock.at = START


def ask(study, now=START):
    return refits.claim_refit(study_id=study.pk, now=now)


class TestClaimRefit:
    def test_claims_what_changed_however_little_and_however_soon_and_once(self, study, monkeypatch):
        monkeypatch.setattr(claiming, "MOVED", 0.5)
        make_judgment(comparison=study.comparisons.first(), submitted_at=START)

        assert fit_services.claim_changed_fits(study=study, now=START + SECOND) == []
        first = ask(study, START + SECOND)
        begun = set(Fit.objects.filter(pk__in=first.fits).values_list("state", "is_on_request"))
        make_judgment(comparison=study.comparisons.last(), submitted_at=START)
        second = ask(study, START + 2 * SECOND)

        assert (len(first.fits), first.analyses) == (4, ())
        assert begun == {(FitState.RUNNING, True)}  # so that their analyses do not wait
        assert (second.fits, second.analyses, second.n_under_way) == ((), (), 4)

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


def fits(action, study, *options, **streams):
    """Run an action and return what it answered, unless a stream takes it."""
    out = io.StringIO()
    call_command("fits", action, "--study", study.slug, *options, **{"stdout": out} | streams)
    return out.getvalue()


class TestCommandNow:
    @pytest.mark.parametrize(
        ("options", "n_analyses"), [((), 8), (("--without-analyses",), 0)], ids=["all", "fits"]
    )
    def test_computes_ratings_at_once_and_analyses_unless_they_are_left_to_workers(
        self, options, n_analyses
    ):
        study = make_judged_study(n_dialogues=3)

        said = fits("now", study, *options)

        assert said.splitlines()[0] == "4 fits computed."
        assert set(study.fits.values_list("state", flat=True)) == {FitState.DONE}
        assert Analysis.objects.filter(state=FitState.DONE).count() == n_analyses

    def test_says_when_nothing_changed(self, study, fit):
        assert "Nothing changed" in fits("now", study)
        assert Fit.objects.count() == 4

    def test_says_when_a_computation_is_under_way(self, study):
        make_fit(study=study, claimed_at=START)

        found = json.loads(fits("now", study, "--json"))

        assert (found["n_under_way"], found["n_fits"]) == (1, 0)
        assert not Analysis.objects.exists()


class TestCommandList:
    def test_has_a_line_for_each_fit_and_answers_a_program(self, study, fit):
        said = fits("list", study).splitlines()
        (newest,) = json.loads(fits("list", study, "--json", "--most", "1"))

        assert len(said) == 4
        assert sum(fit.key in line for line in said) == 1
        assert "Computed in 0.0 s, 9 judgments as of 2026-01-05 10:00:00 UTC" in said[0]
        assert (newest["state"], newest["took"], newest["n_judgments"]) == ("DONE", 0.0, 9)

    def test_says_when_there_is_none(self):
        assert "No fits yet" in fits("list", make_study())


class TestCommandShow:
    def test_shows_the_board_and_how_analyses_stand(self, study, fit):
        report_services.analyse_fit(fit_id=fit.pk, kind=AnalysisKind.PAIRS, clock=lambda: START)
        refused = {"state": FitState.REFUSED, "ended_at": START, "refusal": "No ties."}
        make_analysis(fit=fit, kind=AnalysisKind.DRAWS, claimed_at=START, **refused)

        said = fits("show", study, "--fit", fit.key)

        assert "System against system  done in 0.0 s" in said
        assert "Ties and strengths  refused in 0.0 s: No ties." in said
        assert all(row.system.name in said for row in fit.ratings.select_related("system"))

    def test_answers_a_program(self, study, fit):
        make_analysis(fit=fit)

        found = json.loads(fits("show", study, "--fit", fit.key, "--json"))

        assert found["key"] == fit.key
        assert found["analyses"] == [{"kind": "PAIRS", "state": "RUNNING", "refusal": ""}]

    def test_of_one_under_way_shows_that_it_is(self, study):
        running = make_fit(study=study)

        assert "Being computed" in fits("show", study, "--fit", running.key)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["list", "--study", "nowhere"], "no study"),
        (["show", "--study", "{study}", "--fit", "fit-none"], "has no fit"),
        (["verify", "--study", "{study}", "--fit", "fit-none"], "has no fit"),
    ],
    ids=["study", "fit to show", "fit to verify"],
)
def test_what_is_not_there_is_refused_with_code_2(study, command, says):
    with pytest.raises(CommandError, match=says) as caught:
        call_command("fits", *(word.format(study=study.slug) for word in command))

    assert caught.value.returncode == 2


class TestCommandVerify:
    def test_says_that_a_fit_is_what_its_judgments_give(self, study, fit):
        assert "is what its judgments give" in fits("verify", study, "--fit", fit.key)

    @pytest.mark.parametrize("options", [(), ("--json",)])
    def test_ends_with_1_where_a_rating_was_tampered_with(self, study, fit, options):
        rating = fit.ratings.first()
        for column in ("elo", "elo_high"):
            tamper("ranking_rating", column, rating.pk, getattr(rating, column) + 1)
        out = io.StringIO()

        with pytest.raises(CommandError, match="does not hold") as caught:
            fits("verify", study, "--fit", fit.key, *options, stdout=out)

        assert caught.value.returncode == 1
        assert rating.system.slug in out.getvalue()
        if options:
            found = json.loads(out.getvalue())
            assert found["is_sound"] is False
            assert {one["figure"] for one in found["differences"]} == {"elo", "elo_high"}

    def test_says_when_other_code_computed_it(self, study, fit):
        Fit.objects.update(code_version="numerics-old")

        err = io.StringIO()

        fits("verify", study, "--fit", fit.key, stderr=err)

        assert "Another version" in err.getvalue()
