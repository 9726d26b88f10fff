"""Workers that come to one fit or one analysis at the same moment, in real threads."""

import datetime as dt
from functools import partial

import pytest

from ranking import refits
from ranking.choices import AnalysisKind, FitState
from ranking.fits import services as fit_services
from ranking.models import Analysis, Fit
from ranking.report import services as report_services
from tests.helpers.analysed import know_kinds
from tests.helpers.factories import NOW
from tests.helpers.judged import make_judged_study
from tests.helpers.threads import together

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]

START = NOW + dt.timedelta(hours=1)


@pytest.fixture
def fit(monkeypatch, settings):
    know_kinds(monkeypatch, (AnalysisKind.PAIRS, AnalysisKind.CHECKS))
    settings.HEART_BOOTSTRAP_REPLICATES = 40
    fit_services.refit_study(study=make_judged_study(n_dialogues=3), clock=lambda: START)
    return Fit.objects.get(pool="COMBINED", context_set="ALL")


def test_two_ticks_claim_an_analysis_once(fit):
    claimed = together([partial(report_services.claim_due_analyses, now=START)] * 2)

    keys = [key for found in claimed for key in found]
    assert len(keys) == len(set(keys)) == Analysis.objects.count()


def test_two_who_compute_one_analysis_store_it_once(fit):
    (key,) = report_services.claim_due_analyses(now=START)

    stored = together(
        [partial(report_services.run_analysis, analysis_id=key, clock=lambda: START)] * 2
    )

    assert sorted(stored) == [False, True]
    assert Analysis.objects.get().state == FitState.DONE


def test_two_who_take_over_a_lost_claim_get_it_once(fit):
    report_services.claim_due_analyses(now=START)
    later = START + dt.timedelta(hours=1)

    found = together([partial(report_services.reclaim_lost_analyses, now=later)] * 2)

    assert sorted(map(len, found)) == [0, 1]


def test_two_who_ask_for_a_refit_begin_each_fit_once(fit):
    study = make_judged_study(n_dialogues=3)

    found = together([partial(refits.claim_refit, study_id=study.pk, now=START)] * 2)

    keys = [key for one in found for key in one.fits]
    assert len(keys) == len(set(keys)) == study.fits.count()
