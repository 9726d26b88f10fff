"""How analyses of fits are claimed, computed, refused and stored."""

import datetime as dt
from unittest.mock import Mock

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError

from access.background import TOO_LONG
from completions.runs.services import exclusive
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool, FitState
from ranking.findings import AnalysisRefusedError, Findings
from ranking.fits import analysis_queries
from ranking.fits import services as fit_services
from ranking.fits.services.inputs import CHANGED
from ranking.judgments.method import code_version
from ranking.models import Analysis, Fit
from ranking.report import services as report_services
from tests.helpers.factories import HOUR, NOW, make_judgment, make_rater, make_study
from tests.helpers.factories_written_once import make_analysis, make_exclusion, make_fit
from tests.helpers.judged import make_judged_study, newest_fit
from tests.helpers.rated import findings_of
from tests.helpers.threads import doing_elsewhere

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_two_kinds")]

HUMAN, COMBINED = EvaluatorPool.HUMAN, EvaluatorPool.COMBINED
PAIRS, CHECKS = AnalysisKind.PAIRS, AnalysisKind.CHECKS
START = NOW + HOUR
MINUTE = dt.timedelta(minutes=1)
PAUSE = dt.timedelta(seconds=600)


@pytest.fixture(autouse=True)
def _no_pace(settings):
    settings.HEART_ANALYSIS_PACE_SECONDS = 0.0


def let_there_be_fits(study, now=START):
    """Have all ratings of a study end, uncomputed: nobody reads them where these are due."""
    claimed = fit_services.claim_changed_fits(study=study, now=now)
    Fit.objects.filter(pk__in=claimed).update(state=FitState.DONE, ended_at=now)
    return claimed


def refit(study, now):
    """Let one more judgment come, and newer fits with it."""
    make_judgment(comparison=study.comparisons.first(), submitted_at=now)
    let_there_be_fits(study, now)


def claim(now=START):
    """Claim what is due and return which analyses that is."""
    return [named(pk) for pk in report_services.claim_due_analyses(now=now)]


def named(pk):
    row = Analysis.objects.select_related("fit").get(pk=pk)
    return row.fit.pool, row.fit.context_set, row.kind


def begin_one(now=START):
    """Compute the first analysis that is due, and return it."""
    (key,) = report_services.claim_due_analyses(now=now)
    report_services.run_analysis(analysis_id=key, clock=lambda: now)
    return Analysis.objects.get(pk=key)


def analyse(fit, now=START):
    """Look into the pairs of a fit, and return what is stored of it."""
    report_services.analyse_fit(fit_id=fit.pk, kind=PAIRS, clock=lambda: now)
    return Analysis.objects.get()


def end_all(now=START):
    """Have whatever is due end, uncomputed, one after the other, and return which that was."""
    ended: list[tuple[str, str, str]] = []
    while claimed := report_services.claim_due_analyses(now=now):
        how = {"state": FitState.REFUSED, "refusal": "Not computed.", "ended_at": now}
        Analysis.objects.filter(pk__in=claimed).update(**how)
        ended += map(named, claimed)
    return ended


class TestClaimDueAnalyses:
    def test_takes_one_at_a_time_the_most_telling_first_and_waits_two_minutes_for_it(self, study):
        assert claim() == [(COMBINED, ContextSet.ALL, PAIRS)]
        assert claim(START + 1.9 * MINUTE) == []
        assert claim(START + 2 * MINUTE) == [(COMBINED, ContextSet.ALL, CHECKS)]

    def test_comes_to_every_kind_of_every_pool_and_context_set(self, study):
        done = end_all()

        assert len(done) == len(set(done)) == 2 * Fit.objects.count() == 8
        assert done[:2] == [(COMBINED, ContextSet.ALL, kind) for kind in (PAIRS, CHECKS)]
        assert claim(START + 60 * MINUTE) == []

    def test_a_lost_claim_is_taken_over_once(self, study):
        (lost,) = report_services.claim_due_analyses(now=START)
        later = START + exclusive.CLAIM_LENGTH

        assert report_services.reclaim_lost_analyses(now=later - MINUTE) == []
        assert report_services.claim_due_analyses(now=later) == [lost]
        assert report_services.reclaim_lost_analyses(now=later) == []

    def test_one_whose_worker_died_is_taken_over_when_nobody_computes_it(self, study, settings):
        (lost,) = report_services.claim_due_analyses(now=START)
        Analysis.objects.update(begun=1)
        later = START + exclusive.PATIENCE

        assert report_services.reclaim_lost_analyses(now=later - MINUTE) == []
        with doing_elsewhere(f"computing analysis {lost}"):
            assert report_services.reclaim_lost_analyses(now=later) == []
        assert report_services.reclaim_lost_analyses(now=later) == [lost]
        assert list(settings.HEART_DATA_DIR.glob("computing*")) == []

    def test_one_that_another_process_computes_is_left_to_it(self, study):
        (key,) = report_services.claim_due_analyses(now=START)

        with doing_elsewhere(f"computing analysis {key}"):
            is_mine = report_services.run_analysis(analysis_id=key, clock=lambda: START)

        analysis = Analysis.objects.get(pk=key)
        assert (is_mine, analysis.state, analysis.begun) == (False, FitState.RUNNING, 0)

    def test_neither_a_refused_fit_nor_one_of_other_code_is_analysed(self, study):
        Fit.objects.update(code_version="numerics-old")
        refused = {"state": FitState.REFUSED, "refusal": "One dialogue."}
        make_fit(ended_at=START, code_version=code_version(), **refused)

        assert claim() == []

    def test_a_newer_fit_waits_until_the_pause_is_over(self, study):
        end_all()
        refit(study, START + 2 * MINUTE)

        assert claim(START + PAUSE - MINUTE) == []
        assert claim(START + PAUSE) == [(COMBINED, ContextSet.ALL, PAIRS)]
        assert Analysis.objects.latest("pk").fit == newest_fit(study)

    def test_what_was_begun_is_finished_though_a_newer_fit_came(self, study):
        first = begin_one()
        refit(study, START + 2 * MINUTE)

        second = begin_one(START + 3 * MINUTE)

        assert second.fit == first.fit != newest_fit(study)
        assert second.kind == CHECKS

    def test_a_fit_that_a_person_asked_for_does_not_wait(self, study):
        end_all()
        refit(study, START + 2 * MINUTE)
        asked = newest_fit(study, HUMAN)
        Fit.objects.filter(pk=asked.pk).update(is_on_request=True)

        assert end_all(START + 3 * MINUTE) == [(HUMAN, ContextSet.ALL, k) for k in (PAIRS, CHECKS)]

    def test_a_published_fit_is_analysed_though_newer_ones_came_and_others_were_begun(
        self, study, settings
    ):
        settings.HEART_ANALYSIS_PACE_SECONDS = 3600
        begin_one()
        refit(study, START + MINUTE)
        published = newest_fit(study, HUMAN)  # which is not what a reader is shown first
        fit_services.publish_fit(fit=published, now=START + MINUTE)
        refit(study, START + 2 * MINUTE)

        end_all(START + 2 * MINUTE)

        assert newest_fit(study, HUMAN).pk != published.pk
        assert {row.kind for row in published.analyses.all()} == {PAIRS, CHECKS}
        assert not newest_fit(study, HUMAN).analyses.exists()

    def test_others_than_what_is_shown_first_wait_between_where_there_is_a_pace(
        self, study, settings
    ):
        settings.HEART_ANALYSIS_PACE_SECONDS = 30
        other = let_there_be_fits(make_judged_study())
        first = [(COMBINED, ContextSet.ALL, kind) for kind in (PAIRS, CHECKS)]

        assert end_all() == [*first, *first]
        assert len(other) == 4
        assert claim(START + 0.4 * MINUTE) == []
        assert end_all(START + 0.5 * MINUTE) == [(COMBINED, ContextSet.REGULAR, PAIRS)]
        assert end_all(START + MINUTE) == [(COMBINED, ContextSet.REGULAR, CHECKS)]

    def test_a_pace_keeps_nobody_waiting_who_asked(self, study, settings):
        settings.HEART_ANALYSIS_PACE_SECONDS = 3600
        Fit.objects.filter(pk=newest_fit(study, HUMAN).pk).update(is_on_request=True)

        assert [done[0] for done in end_all()] == [COMBINED, COMBINED, HUMAN, HUMAN]

    def test_what_is_shown_first_is_of_people_while_there_is_no_more(self, study, settings):
        settings.HEART_ANALYSIS_PACE_SECONDS = 3600
        Fit.objects.update(code_version="numerics-old")
        newest = {"study": make_study(), "code_version": code_version(), "pool": HUMAN}
        for context_set in (ContextSet.REGULAR, ContextSet.ALL):
            make_fit(**newest, context_set=context_set, state=FitState.DONE, ended_at=START)

        assert end_all() == [(HUMAN, ContextSet.ALL, kind) for kind in (PAIRS, CHECKS)]

    def test_new_code_is_asked_again(self, study, monkeypatch):
        end_all()
        monkeypatch.setattr(analysis_queries, "code_version", lambda: "numerics-new")
        monkeypatch.setattr(report_services, "code_version", lambda: "numerics-new")
        Fit.objects.update(code_version="numerics-new")

        assert claim() == [(COMBINED, ContextSet.ALL, PAIRS)]

    def test_needs_as_many_queries_for_three_studies_as_for_one(
        self, study, django_assert_num_queries
    ):
        for _ in range(2):
            let_there_be_fits(make_judged_study())

        with django_assert_num_queries(4):
            found = list(analysis_queries.missing_analyses(now=START, pause=PAUSE))

        assert len(found) == 3 * 8

    def test_a_fit_is_analysed_once_by_the_same_code(self, fit):
        make_analysis(fit=fit, code_version=code_version())

        assert report_services.analyse_fit(fit_id=fit.pk, kind=PAIRS, clock=lambda: START) is False


class TestRunAnalysis:
    def test_stores_what_was_found_of_exactly_the_judgments_of_the_fit(self, study):
        fit, later = newest_fit(study), START + 2 * MINUTE
        make_judgment(comparison=study.comparisons.first(), submitted_at=START + MINUTE)
        make_exclusion(rater=make_rater(study=study), decided_at=later)

        row = analyse(fit, later)

        assert (row.state, row.ended_at, row.begun) == (FitState.DONE, later, 1)
        assert Findings.of(row.result).tables[0].rows == ((fit.n_judgments,),)

    def test_of_two_workers_one_stores(self, study, monkeypatch):
        (pk,) = report_services.claim_due_analyses(now=START)
        other = {"state": FitState.REFUSED, "refusal": "The other was first.", "ended_at": START}

        def slowly(_kind, inputs):
            Analysis.objects.filter(pk=pk).update(**other)
            return findings_of(inputs)

        monkeypatch.setattr("ranking.analyses.analyse", slowly)

        assert report_services.run_analysis(analysis_id=pk, clock=lambda: START) is False
        assert Analysis.objects.get(pk=pk).refusal == "The other was first."

    def test_stores_why_the_judgments_do_not_allow_it(self, fit, monkeypatch):
        def refuse(_kind, _inputs):
            msg = "There are no ties."
            raise AnalysisRefusedError(msg)

        monkeypatch.setattr("ranking.analyses.analyse", refuse)
        row = analyse(fit)

        assert (row.state, row.refusal, row.result) == (FitState.REFUSED, "There are no ties.", {})

    def test_an_error_is_logged_and_stops_nothing_else(self, study, monkeypatch, caplog):
        def break_one(kind, inputs):
            if kind == PAIRS:
                msg = "secret detail"
                raise ZeroDivisionError(msg)
            return findings_of(inputs)

        monkeypatch.setattr("ranking.analyses.analyse", break_one)

        broken, done = begin_one(), begin_one()

        assert (broken.kind, broken.refusal) == (PAIRS, report_services.BROKEN)
        assert (done.kind, done.state) == (CHECKS, FitState.DONE)
        assert "secret detail" in caplog.text

    def test_one_that_takes_its_worker_too_long_says_so(self, fit, monkeypatch):
        monkeypatch.setattr("ranking.analyses.analyse", Mock(side_effect=SoftTimeLimitExceeded))

        assert analyse(fit).refusal == TOO_LONG

    @pytest.mark.parametrize("away", [InterfaceError, OperationalError])
    def test_one_whose_database_went_away_is_begun_again(self, fit, monkeypatch, away):
        monkeypatch.setattr("ranking.analyses.analyse", Mock(side_effect=away))
        with pytest.raises(away):
            analyse(fit)
        monkeypatch.undo()

        again = report_services.reclaim_lost_analyses(now=START + 2 * exclusive.PATIENCE)

        assert again == [Analysis.objects.get(fit=fit, state=FitState.RUNNING).pk]

    @pytest.mark.parametrize("number", [float("nan"), float("inf"), object()])
    def test_what_cannot_be_stored_is_an_error_of_the_analysis(self, fit, monkeypatch, number):
        monkeypatch.setattr("ranking.analyses.analyse", lambda *_: Findings(number, ()))

        assert analyse(fit).refusal == report_services.BROKEN

    def test_is_refused_when_the_judgments_of_then_are_others_now(self, study):
        make_judgment(comparison=study.comparisons.first())  # a transaction that came in late

        assert analyse(newest_fit(study)).refusal == CHANGED

    def test_is_given_up_when_every_worker_is_lost_over_it(self, fit):
        row = make_analysis(fit=fit, begun=exclusive.MOST_BEGUN)

        assert report_services.run_analysis(analysis_id=row.pk, clock=lambda: START)

        row.refresh_from_db()
        assert (row.state, row.refusal) == (FitState.REFUSED, report_services.LOST)

    def test_a_fit_that_is_not_done_is_not_analysed(self):
        running = make_fit().pk

        assert report_services.analyse_fit(fit_id=running, kind=PAIRS, clock=lambda: START) is False
        assert not Analysis.objects.exists()

    def test_begun_ones_are_dropped_when_no_worker_lives_and_ended_ones_kept(self, study):
        ended = end_all()
        make_analysis()

        assert report_services.forget_analysis_claims() == 1
        assert Analysis.objects.count() == len(ended)


class TestAnalysesOfAFit:
    def test_come_in_their_order_each_as_it_stands(self, fit):
        done = {"state": FitState.DONE, "ended_at": START}
        found = Findings("Counted.", ()).as_json()
        make_analysis(fit=fit, kind=CHECKS)
        make_analysis(fit=fit, kind=AnalysisKind.STYLE, **done | {"result": found})
        refused = done | {"state": FitState.REFUSED, "refusal": "One system."}
        make_analysis(fit=fit, kind=PAIRS, **refused)

        pairs, checks, style = analysis_queries.analyses_of(fit)

        assert (pairs.kind, pairs.refusal, pairs.findings) == (PAIRS, "One system.", None)
        assert (checks.kind, checks.state, checks.ended_at) == (CHECKS, FitState.RUNNING, None)
        assert style.findings == Findings("Counted.", ())
        assert style.get_kind_display() == "Adjusted for length and style"

    def test_are_those_of_the_newest_code(self, fit):
        make_analysis(fit=fit, code_version="numerics-2", claimed_at=START + MINUTE)
        make_analysis(fit=fit, code_version="numerics-1", claimed_at=START)

        (shown,) = analysis_queries.analyses_of(fit)

        assert shown.code_version == "numerics-2"


def analysed_fit(fit):
    return analysis_queries.analysed_fit(fit, Fit.objects.all())


class TestTheFitWhoseAnalysesAreShown:
    def test_is_the_fit_itself_once_its_analyses_ended_and_none_before(self, study):
        assert analysed_fit(newest_fit(study)) is None

        end_all()

        assert analysed_fit(newest_fit(study)) == newest_fit(study)

    def test_is_the_one_before_while_the_newest_is_not_looked_into_wholly(self, study):
        end_all()
        before = newest_fit(study)
        refit(study, START + PAUSE)
        begin_one(START + PAUSE)

        shown = analysed_fit(newest_fit(study))

        assert shown == before != newest_fit(study)

    def test_is_none_that_came_later_or_looks_at_other_judgments(self, study):
        first = newest_fit(study)
        refit(study, START + PAUSE)
        end_all(START + PAUSE)

        assert analysed_fit(first) is None
        assert analysed_fit(newest_fit(study)) == newest_fit(study)
