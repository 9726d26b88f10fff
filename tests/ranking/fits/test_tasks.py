"""Tasks that look into ratings, twice or lost, and workers at one row; the page and its button."""

import datetime as dt
from dataclasses import dataclass, field
from functools import partial

import pytest
from django.urls import reverse
from django.utils import timezone

from access import background
from access.nudges import Work
from ranking import refits, tasks
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool, FitState
from ranking.fits import services
from ranking.judgments.method import code_version
from ranking.models import Analysis
from ranking.report import services as report_services
from tests.helpers.factories import HOUR, NOW, make_study
from tests.helpers.factories_written_once import make_analysis, make_fit
from tests.helpers.judged import make_judged_study
from tests.helpers.observed import nudged
from tests.helpers.pages import text
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


def make_fit_to_look_into():
    """A fit whose analyses are due, though its judgments are not there."""
    return make_fit(state=FitState.DONE, ended_at=START, code_version=code_version())


@pytest.fixture
def queue(db, _two_kinds, monkeypatch, settings):
    settings.HEART_ANALYSIS_PACE_SECONDS = 0.0  # as with workers of their own
    queue = Queue()
    monkeypatch.setattr(timezone, "now", lambda: queue.time)
    monkeypatch.setattr(
        tasks.run_analysis, "delay", lambda *, analysis_id: queue.analyses.append(analysis_id)
    )
    monkeypatch.setattr(tasks.run_fit, "delay", lambda *, fit_id: queue.fits.append(fit_id))
    return queue


class TestClaimDueAnalyses:
    def test_hands_one_analysis_out_once_and_again_when_its_worker_is_lost(self, queue):
        make_fit_to_look_into()
        for _ in range(2):
            tasks.claim_due_analyses()
        assert queue.analyses == [Analysis.objects.get().pk]

        queue.time += report_services.CLAIM_LENGTH
        tasks.claim_due_analyses()

        assert queue.analyses == [Analysis.objects.get().pk] * 2

    def test_a_message_that_was_lost_is_made_good_by_later_ticks(self, queue):
        rated()
        tasks.claim_due_analyses()
        queue.analyses.clear()  # as if the broker had been flushed
        for _ in range(15):
            queue.time += dt.timedelta(minutes=1)
            tasks.claim_due_analyses()
            for pk in queue.analyses:
                tasks.run_analysis(analysis_id=pk)
            queue.analyses.clear()

        states = Analysis.objects.values_list("state", flat=True)
        assert list(states) == [FitState.DONE] * 8


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


SECOND = dt.timedelta(seconds=1)
DONE = {"state": FitState.DONE, "ended_at": START + 2 * SECOND, "claimed_at": START}
FOUND = {"method": "Counted.", "tables": [], "warnings": [], "is_exploratory": True}


@pytest.fixture
def handed(monkeypatch):
    """The messages that were sent; the clock stands still."""
    sent: list[int] = []
    monkeypatch.setattr(timezone, "now", lambda: START + 60 * SECOND)
    monkeypatch.setattr(background, "hand_over", lambda _task, study_id: sent.append(study_id))
    return sent


@pytest.fixture
def study():
    return make_study()


def address(study, name="fits"):
    return reverse(f"raters:{name}", args=[study.slug])


def refused(fit, kind, why):
    make_analysis(fit=fit, kind=kind, **DONE | {"state": FitState.REFUSED, "refusal": why})


@pytest.mark.django_db
@pytest.mark.usefixtures("handed")
class TestPage:
    @pytest.mark.parametrize("name", ["fits", "refit"])
    def test_of_an_unknown_study_is_not_found(self, admin_client, handed, name):
        where = reverse(f"raters:{name}", args=["none"])

        answer = admin_client.get(where) if name == "fits" else admin_client.post(where)

        assert (answer.status_code, handed) == (404, [])

    def test_says_what_will_stand_there(self, admin_client, study):
        assert "There is none yet" in text(admin_client.get(address(study)))

    def test_shows_each_newest_fit_with_its_age_and_what_it_took(self, admin_client, study):
        old = make_fit(study=study, as_of=NOW, **DONE)
        new = make_fit(study=study, as_of=START, n_judgments=1234, **DONE)
        adversarial = {"context_set": ContextSet.ADVERSARIAL, "pool": EvaluatorPool.LLM}
        why = {"state": FitState.REFUSED, "refusal": "All on one source dialogue."}
        make_fit(study=study, **DONE | adversarial | why)

        answer = admin_client.get(address(study))

        page = text(answer)
        newest = page[: page.index("Analyses")]
        assert new.key in newest
        assert old.key not in newest
        assert old.key in page
        for words in ("1,234", "2.0 s", "LLM judges, adversarial contexts", "one source dialogue"):
            assert words in newest
        assert f'href="{reverse("ranking:fit", args=[study.slug, new.key])}"' in str(answer.content)

    def test_says_what_is_simulated_and_what_other_code_computed(self, admin_client, study):
        make_fit(study=study, is_simulated=True, **DONE)

        answer = admin_client.get(address(study))

        assert "Simulated." in text(answer)
        assert "other code" in text(answer)
        tab = f'<a href="{address(study)}" aria-current="page">Ratings</a>'
        assert tab in answer.content.decode()

    def test_shows_how_each_analysis_ended(self, admin_client, study):
        fit = make_fit(study=study, **DONE)
        make_fit(study=study, as_of=START, **DONE)
        make_analysis(fit=fit, kind=AnalysisKind.CHECKS, **DONE, result=FOUND)
        make_analysis(fit=fit, kind=AnalysisKind.STYLE)
        refused(fit, AnalysisKind.DRAWS, "There are no ties.")

        page = text(admin_client.get(address(study)))

        assert "1 of 3 with findings" in page
        assert "Ties and strengths Refused There are no ties. 2.0 s" in page
        assert "Does the model fit? Done 2.0 s" in page
        assert "Adjusted for length and style Under way" in page

    @pytest.mark.parametrize("n", [1, 12])
    def test_costs_a_fixed_number_of_queries(
        self, admin_client, study, n, django_assert_num_queries
    ):
        for index in range(n):
            fit = make_fit(study=study, as_of=NOW + index * SECOND, **DONE)
            make_analysis(fit=fit)

        # Session and user; the study; newest, analysed and recent fits; analyses; two counts.
        with django_assert_num_queries(9):
            admin_client.get(address(study))


@pytest.mark.django_db
@pytest.mark.usefixtures("handed")
class TestRefitButton:
    def test_says_when_a_computation_is_under_way_and_begins_none(
        self, admin_client, study, handed
    ):
        make_fit(study=study, claimed_at=START)

        page = text(admin_client.post(address(study, "refit"), follow=True))

        assert handed == []
        assert "1 computation is under way already: nothing is begun twice." in page

    def test_hands_the_study_to_a_worker_and_says_so(self, admin_client, study, handed):
        answer = admin_client.post(address(study, "refit"), follow=True)

        assert handed == [study.pk]
        assert answer.redirect_chain == [(address(study), 302)]
        assert "A worker computes now whatever changed" in text(answer)
