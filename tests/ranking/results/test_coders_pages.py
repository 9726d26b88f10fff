"""What a model finds in rationales, on the page of the analysis and in its downloads."""

import csv
import datetime as dt
import re

import pytest
from django.test import override_settings
from django.urls import reverse

from completions.systems.services.registering import assistant_for
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool
from ranking.fits import services as fit_services
from ranking.models import Fit
from ranking.report import services as report_services
from tests.helpers.factories import NOW
from tests.helpers.factories_of_calls import code_all
from tests.helpers.judged import make_judged_study
from tests.helpers.rated import close

pytestmark = pytest.mark.django_db
MINUTE = dt.timedelta(minutes=1)


@pytest.fixture(scope="module")
def key(module_rows):
    study = make_judged_study(with_llm=True)
    code_all(study, assistant_for("coder", "offline"), at=NOW)
    with override_settings(HEART_BOOTSTRAP_REPLICATES=20):
        fits = fit_services.refit_study(study=study, clock=lambda: NOW + MINUTE)
        close(study)
        where = (EvaluatorPool.COMBINED, ContextSet.ALL)
        fit = next(one for one in fits if (one.pool, one.context_set) == where)
        report_services.analyse_fit(fit_id=fit.pk, kind=AnalysisKind.RATIONALES, clock=lambda: NOW)
    return fit.pk


@pytest.fixture
def fit(key):
    return Fit.objects.get(pk=key)


def address(fit, name="analysis", *more):
    return reverse(f"ranking:{name}", args=[fit.study.slug, fit.key, "rationales", *more])


def test_the_page_shows_it_beside_the_rules_and_says_that_it_is_simulated(client, fit):
    page = client.get(address(fit)).content.decode()

    said = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "What a model finds in the same rationales" in said
    assert "Do the rules and the model agree?" in said
    assert "Simulated coder has read 24 of 24 rationales (100 %)." in said
    assert len(re.findall(r"Simulated coder", said)) >= 2 * 20
    assert "xplorator" in said


def test_its_downloads_name_the_model_in_every_line(client, fit):
    answer = client.get(address(fit, "table_csv", "coder-agreement"))

    lines = b"".join(answer.streaming_content).decode().splitlines()
    rows = list(csv.DictReader(lines))
    assert {row["coder"] for row in rows} == {"Simulated coder"}
    warmth = next(row for row in rows if row["theme"] == "Warmth")
    assert (warmth["rationales"], warmth["model"]) == ("24", "1.0")
