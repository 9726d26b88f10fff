"""The judgments of a fit are read once for the analyses that follow one another, and checked."""

import datetime as dt
import threading

import numpy as np
import pytest
from django.test import override_settings

from annotation.models import Study
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool
from ranking.fits.services import inputs
from ranking.fits.services.inputs import JudgmentsChangedError, forget_judgments, inputs_of
from ranking.judgments.frames.columns import read_columns_and_dimensions, read_style
from ranking.models import Fit
from tests.helpers.factories import NOW, make_judgment
from tests.helpers.judged import fit_one, make_judged_study

pytestmark = pytest.mark.django_db

START = NOW + dt.timedelta(hours=1)
PAIRS, STYLE = AnalysisKind.PAIRS, AnalysisKind.STYLE


@pytest.fixture(scope="module")
def kept(module_rows):
    """A study with the two fits that the tests ask for."""
    with override_settings(HEART_BOOTSTRAP_REPLICATES=40):
        study = make_judged_study(n_dialogues=3, with_llm=True)
        for pool in (EvaluatorPool.COMBINED, EvaluatorPool.HUMAN):
            fit_one(study, START, pool)
    return study.pk


@pytest.fixture
def study(kept):
    return Study.objects.get(pk=kept)


def fit_of(study, pool=EvaluatorPool.COMBINED):
    return Fit.objects.get(study=study, pool=pool, context_set=ContextSet.ALL)


def same(one, other):
    return all(np.array_equal(vars(one)[name], vars(other)[name]) for name in vars(one))


def test_the_second_analysis_asks_only_whether_the_judgments_are_the_same(
    study, django_assert_num_queries
):
    fit = fit_of(study)
    first = inputs_of(fit, PAIRS)

    with django_assert_num_queries(1):
        second = inputs_of(fit, AnalysisKind.CHECKS)

    assert second.columns is first.columns
    assert second.dimensions is first.dimensions
    with pytest.raises(ValueError, match="read-only"):
        second.columns.strength[0] = 5


def test_what_was_kept_is_what_would_be_read(study):
    inputs_of(fit_of(study), STYLE)
    kept = inputs_of(fit_of(study), STYLE)
    forget_judgments()

    read = inputs_of(fit_of(study), STYLE)

    assert kept.columns is not read.columns
    assert same(kept.columns, read.columns)


def judge_late(study):
    make_judgment(comparison=study.comparisons.first(), submitted_at=START)


def claim_another_hash(study):
    Fit.objects.filter(study=study).update(inputs_hash="0" * 64)


@pytest.mark.parametrize("change", [judge_late, claim_another_hash])
def test_other_judgments_than_those_of_the_fit_are_noticed_though_some_are_kept(study, change):
    inputs_of(fit_of(study), PAIRS)

    change(study)

    with pytest.raises(JudgmentsChangedError):
        inputs_of(fit_of(study), PAIRS)


def test_one_that_comes_while_the_others_are_read_is_noticed(study, monkeypatch):
    read = read_columns_and_dimensions

    def slowly(selection):
        judge_late(study)
        return read(selection)

    monkeypatch.setattr(inputs, "read_columns_and_dimensions", slowly)

    with pytest.raises(JudgmentsChangedError):
        inputs_of(fit_of(study), PAIRS)


def test_a_later_judgment_is_not_among_those_of_the_fit(study):
    n = inputs_of(fit_of(study), PAIRS).columns.n_judgments
    later = START + dt.timedelta(minutes=1)
    make_judgment(comparison=study.comparisons.first(), submitted_at=later)

    assert inputs_of(fit_of(study), PAIRS).columns.n_judgments == n


def test_another_fit_takes_the_place_of_the_one_before(study):
    both, people = fit_of(study), fit_of(study, EvaluatorPool.HUMAN)
    inputs_of(both, PAIRS)

    found = inputs_of(people, PAIRS)

    assert found.columns.n_judgments == people.n_judgments < both.n_judgments
    assert inputs._shelf.take(both) is None


def test_style_is_measured_once_and_for_those_that_ask_for_it(study, monkeypatch):
    measured, read = [], read_style

    def noted(selection):
        measured.append(selection)
        return read(selection)

    monkeypatch.setattr(inputs, "read_style", noted)
    fit = fit_of(study)

    styled = [inputs_of(fit, kind).columns for kind in (STYLE, AnalysisKind.JUDGE)]
    plain = inputs_of(fit, PAIRS).columns

    assert len(measured) == 1
    assert all(columns.features is not None for columns in styled)
    assert (plain.features, plain.feature_names) == (None, ())


def test_nothing_is_kept_for_long(study, monkeypatch):
    monkeypatch.setattr(inputs, "KEPT_SECONDS", 0.0)
    fit = fit_of(study)
    inputs_of(fit, PAIRS)

    for timer in threading.enumerate():
        if isinstance(timer, threading.Timer):
            timer.join(10)

    assert inputs._shelf.take(fit) is None
